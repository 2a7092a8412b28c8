import type { SecretBox } from '../../shared/domain/secret-box.ts';
import { signingKeys } from '../../shared/domain/webhooks/webhook-signature.ts';
import type { SigningKeys } from '../../shared/domain/webhooks/webhook-signature.ts';

/** About 10 MB. */
const MOST_SECRETS = 10_000;

/**
 * The keys of webhook secrets. They are kept, because to open a secret and to make its keys takes longer than to sign
 * with them. A secret that was rotated has another sealed form, and so other keys.
 */
export class WebhookKeys {
  private readonly secretBox: Pick<SecretBox, 'open'>;
  private readonly most: number;
  /** By monitor and sealed secret: a box that was copied to another monitor must not open there. */
  private readonly keys = new Map<string, SigningKeys>();

  constructor(secretBox: Pick<SecretBox, 'open'>, most = MOST_SECRETS) {
    this.secretBox = secretBox;
    this.most = most;
  }

  /** @throws Error when the secret cannot be opened */
  of(monitorId: string, sealed: Buffer): SigningKeys {
    const name = `${monitorId}|${sealed.toString('latin1')}`;
    const known = this.keys.get(name);
    if (known) return known;
    const keys = signingKeys(this.secretBox.open(sealed, monitorId));
    if (this.keys.size >= this.most) this.keys.delete(this.keys.keys().next().value!);
    this.keys.set(name, keys);
    return keys;
  }
}
