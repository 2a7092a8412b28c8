import { randomBytes } from 'node:crypto';

/** A prefix for topics and consumer groups, so that test files share one broker without meeting. */
export function uniquePrefix(): string {
  return `test-${randomBytes(5).toString('hex')}.`;
}
