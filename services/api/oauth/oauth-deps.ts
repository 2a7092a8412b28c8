import type { SecretBox } from '../../../shared/domain/secret-box.ts';
import type { EgressClient } from '../../../shared/http/egress-client.ts';
import type { SignupDeps } from '../signup/signup-deps.ts';

/** Collaborators of the sign-in for the tool server. */
export interface OAuthDeps extends SignupDeps {
  secretBox: SecretBox;
  /** Fetches client metadata documents. */
  egress: EgressClient;
  /** Whether those documents may be at http:// and private addresses (development and tests). */
  webhooks: { allowPrivate: boolean };
}
