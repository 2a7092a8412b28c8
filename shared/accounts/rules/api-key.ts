import { hash, timingSafeEqual } from 'node:crypto';
import { randomText } from '../../rules/identifiers.ts';

const ID_LENGTH = 8;
/** 5 bits a character: 160 bits. */
const SECRET_LENGTH = 32;
const API_KEY_ID = /^[0-9a-hjkmnp-tv-z]{8}$/;
const API_KEY = /^fk_([0-9a-hjkmnp-tv-z]{8})[0-9a-hjkmnp-tv-z]{32}$/;

export interface NewApiKey {
  /** The public part, which finds and lists the key. */
  id: string;
  /** Shown once, never stored. */
  key: string;
  hash: Buffer;
}

/** Generates a key: fk_, the public id, and a secret of 160 random bits. */
export function newApiKey(): NewApiKey {
  const id = randomText(ID_LENGTH);
  const key = `fk_${id}${randomText(SECRET_LENGTH)}`;
  return { id, key, hash: hashApiKey(key) };
}

/** The public id of a key; undefined when the text does not have the format of a key. */
export function apiKeyId(key: string): string | undefined {
  return API_KEY.exec(key)?.[1];
}

export function isApiKeyId(text: string): boolean {
  return API_KEY_ID.test(text);
}

/** SHA-256. The secret is random, so a slow hash would not add protection. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** Whether the key has this hash, compared in constant time. */
export function isApiKey(key: string, hash: Uint8Array): boolean {
  const given = hashApiKey(key);
  return hash.length === given.length && timingSafeEqual(given, hash);
}
