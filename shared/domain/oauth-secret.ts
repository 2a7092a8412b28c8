import { createHash } from 'node:crypto';
import { randomText } from './identifiers.ts';

/** 5 bits a character: 260 bits. */
const SECRET_LENGTH = 52;
/** What is in front, so that a secret in the wrong place is recognised. */
const PREFIXES = {
  'access token': 'oat',
  'refresh token': 'ort',
  code: 'oac',
  client: 'ocl',
  'client secret': 'ocs',
} as const;
const ACCESS_TOKEN = /^oat_[0-9a-hjkmnp-tv-z]{52}$/;

/** An id that nobody guesses; of codes, tokens and client secrets it is the secret itself. */
export function newOAuthSecret(kind: keyof typeof PREFIXES): string {
  return `${PREFIXES[kind]}_${randomText(SECRET_LENGTH)}`;
}

/** Whether a text has the shape of an access token. */
export function isAccessToken(text: string): boolean {
  return ACCESS_TOKEN.test(text);
}

/** SHA-256: ids are random, so a slow or keyed hash would protect nothing more. */
export function hashOAuthId(id: string): Buffer {
  return createHash('sha256').update(id).digest();
}
