import { LRUCache } from 'lru-cache';
import type { SecretBox } from '../../shared/domain/secret-box.ts';
import { signingKeys } from '../../shared/domain/webhooks/webhook-signature.ts';
import type { SigningKeys } from '../../shared/domain/webhooks/webhook-signature.ts';

/**
 * The keys of webhook secrets. They are kept, because to open a secret and to make its keys takes longer than to sign
 * with them. A secret that was rotated has another sealed form, and so other keys.
 */
export class WebhookKeys {
  private readonly secretBox: Pick<SecretBox, 'open'>;
  /** By monitor and sealed secret, about 10 MB: a box that was copied to another monitor must not open there. */
  private readonly keys = new LRUCache<string, SigningKeys>({ max: 10_000 });

  constructor(secretBox: Pick<SecretBox, 'open'>) {
    this.secretBox = secretBox;
  }

  /** @throws Error when the secret cannot be opened */
  of(monitorId: string, sealed: Buffer): SigningKeys {
    const name = `${monitorId}|${sealed.toString('latin1')}`;
    const known = this.keys.get(name);
    if (known) return known;
    const keys = signingKeys(this.secretBox.open(sealed, monitorId));
    this.keys.set(name, keys);
    return keys;
  }
}
