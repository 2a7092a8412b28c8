import { createHash } from 'node:crypto';

/** Identifies these bytes. Weak, because compressed and plain answers have the same. */
export function weakEtag(bytes: Buffer): string {
  return `W/"${createHash('sha256').update(bytes).digest('base64url')}"`;
}
