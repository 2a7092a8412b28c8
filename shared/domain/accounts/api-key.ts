import { createHash, timingSafeEqual } from 'node:crypto';
import { randomText } from '../identifiers.ts';

const ID_LENGTH = 8;
/** 5 bits a character: 160 bits. */
const SECRET_LENGTH = 32;
const API_KEY_ID = /^[0-9a-hjkmnp-tv-z]{8}$/;
const API_KEY = /^fk_([0-9a-hjkmnp-tv-z]{8})[0-9a-hjkmnp-tv-z]{32}$/;

export interface NewApiKey {
  /** The public part, by which a key is found and listed. */
  id: string;
  /** Shown once, stored nowhere. */
  key: string;
  hash: Buffer;
}

/** fk_, the public id, and a secret of 160 random bits. */
export function newApiKey(): NewApiKey {
  const id = randomText(ID_LENGTH);
  const key = `fk_${id}${randomText(SECRET_LENGTH)}`;
  return { id, key, hash: hashApiKey(key) };
}

/** The public id inside a key; undefined when the text has not the shape of one. */
export function apiKeyId(key: string): string | undefined {
  return API_KEY.exec(key)?.[1];
}

/** Whether a text has the shape of a key's public id. */
export function isApiKeyId(text: string): boolean {
  return API_KEY_ID.test(text);
}

/** SHA-256: the secret is random, so a slow hash would protect nothing more. */
export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** Whether the key has this hash; takes the same time wherever they differ. */
export function isApiKey(key: string, hash: Uint8Array): boolean {
  const given = hashApiKey(key);
  return hash.length === given.length && timingSafeEqual(given, hash);
}
