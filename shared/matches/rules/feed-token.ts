import { createHash } from 'node:crypto';
import { idFormat } from '../../rules/identifiers.ts';

/** 160 random bits. */
export const { create: newFeedToken, test: isFeedToken } = idFormat('feed', 32);

/** SHA-256: the token is random, so a slow or keyed hash would protect nothing more. */
export function hashFeedToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
