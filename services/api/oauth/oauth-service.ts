import type { SecretBox } from '../../../shared/domain/secret-box.ts';
import type { OutboundDoor } from '../../../shared/http/egress-client.ts';
import type { SignupService } from '../signup/signup-service.ts';

/** What the sign-in for the tool server works with. */
export interface OAuthService extends SignupService {
  secretBox: SecretBox;
  /** For the documents that clients describe themselves with. */
  door: OutboundDoor;
  /** Whether those documents may be at http:// and private addresses (development and tests). */
  webhooks: { allowPrivate: boolean };
}
