import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomBytes } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

const FORMAT = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

/** Encrypts secrets at rest. Without the installation's secret key the database reveals none of them. */
export interface SecretBox {
  /** `context` names the owner of the secret (a monitor id). A box copied to another row does not open there. */
  seal(secret: string, context: string): Buffer;
  /** @throws Error when the box was sealed with another key or context, or was modified */
  open(sealed: Uint8Array, context: string): string;
}

/**
 * AES-256-GCM with a key derived (HKDF, SHA-256) from the secret key, a random nonce per box, and the context as
 * additional data. Random 96-bit nonces are safe for 2^32 boxes per key.
 *
 * A box is: format (1 byte), nonce (12), tag (16), ciphertext.
 *
 * @param previousKeys open, too, and never seal
 */
export function createSecretBox(secretKey: string, previousKeys: readonly string[] = []): SecretBox {
  const [key, ...others] = [secretKey, ...previousKeys].map(derive);
  return {
    seal(secret, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key!, nonce).setAAD(Buffer.from(context));
      const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(FORMAT), nonce, cipher.getAuthTag(), ciphertext]);
    },
    open(sealed, context) {
      if (sealed[0] !== FORMAT || sealed.length < HEADER_BYTES)
        throw new Error('cannot open a sealed secret: unknown format');
      for (const other of others) {
        try {
          return openWith(other, sealed, context);
        } catch {
          // The other keys may open it.
        }
      }
      return openWith(key!, sealed, context);
    },
  };
}

/** A key object, with which opening takes a third of the time. */
function derive(secretKey: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', secretKey, '', 'forum-monitor secrets at rest v1', 32)));
}

function openWith(key: KeyObject, sealed: Uint8Array, context: string): string {
  const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(context))
    .setAuthTag(sealed.subarray(1 + NONCE_BYTES, HEADER_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(HEADER_BYTES)), decipher.final()]).toString('utf8');
}
