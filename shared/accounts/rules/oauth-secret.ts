import { createHash } from 'node:crypto';
import { idFormat, randomText } from '../../rules/identifiers.ts';

/** 5 bits a character: 260 bits. */
const SECRET_LENGTH = 52;
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
  return `${PREFIXES[kind]}_${randomText(SECRET_LENGTH)}`;
}

export const { test: isAccessToken } = idFormat(PREFIXES['access token'], SECRET_LENGTH);

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
