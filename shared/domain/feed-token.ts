import { createHash } from 'node:crypto';
import { randomText } from './identifiers.ts';

const TOKEN_LENGTH = 32;
const FEED_TOKEN = /^feed_[0-9a-hjkmnp-tv-z]{32}$/;

/** feed_ and 160 random bits. */
export function newFeedToken(): string {
  return `feed_${randomText(TOKEN_LENGTH)}`;
}

export function isFeedToken(text: string): boolean {
  return FEED_TOKEN.test(text);
}

/** SHA-256: the token is random, so a slow or keyed hash would protect nothing more. */
export function hashFeedToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
