import { createHash, hash, timingSafeEqual } from 'node:crypto';
import { idFormat, randomText } from '../../rules/identifiers.ts';

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

/** 5 bits a character: 260 bits. */
const OAUTH_SECRET_LENGTH = 52;
/** Prefixes, so that a leaked or misplaced secret is recognised. */
const PREFIXES = {
  'access token': 'oat',
  'refresh token': 'ort',
  code: 'oac',
  client: 'ocl',
  'client secret': 'ocs',
} as const;

/** Generates an id that cannot be guessed. For codes, tokens and client secrets the id is the secret itself. */
export function newOAuthSecret(kind: keyof typeof PREFIXES): string {
  return `${PREFIXES[kind]}_${randomText(OAUTH_SECRET_LENGTH)}`;
}

export const { test: isAccessToken } = idFormat(PREFIXES['access token'], OAUTH_SECRET_LENGTH);

const GRANT_HASH_START = 12;
const GRANT_ID = /^gra_([0-9a-f]{24})$/;

/** The first 96 bits of the hash of the grant's id, which do not reveal it. */
export function grantPublicId(idHash: Buffer): string {
  return `gra_${idHash.subarray(0, GRANT_HASH_START).toString('hex')}`;
}

/** The first bytes of the hash of the grant with this public id; undefined when the text is not a public id. */
export function grantHashStart(publicId: string): Buffer | undefined {
  const hex = GRANT_ID.exec(publicId)?.[1];
  return hex === undefined ? undefined : Buffer.from(hex, 'hex');
}

/** SHA-256. Ids are random, so a slow or keyed hash would not add protection. */
export function hashOAuthId(id: string): Buffer {
  return createHash('sha256').update(id).digest();
}

/** How long a token, its code and a mailed link are valid, in seconds. */
export const CODE_SECONDS = 600;

/** The token that goes with a code: 160 random bits. A text of another form needs no look-up. */
export const { create: newSignupToken, test: isSignupToken } = idFormat('sgn', 32);

/** The token of a link in a mail: 130 random bits. */
export const { create: newLinkToken, test: isLinkToken } = idFormat('lnk', 26);

/** SHA-256: the token is random, so a slow or keyed hash would protect nothing more. */
export function hashMailedToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** 160 random bits. */
export const { create: newFeedToken, test: isFeedToken } = idFormat('feed', 32);

/** SHA-256: the token is random, so a slow or keyed hash would protect nothing more. */
export function hashFeedToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
