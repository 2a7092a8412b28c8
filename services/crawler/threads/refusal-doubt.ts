import { UpstreamError } from '../../../shared/upstream/upstream-error.ts';

/** So often a thread is asked for that the forum refuses without a reason. */
const MOST_REFUSALS = 12;
const MOST_REMEMBERED = 1_000;

/**
 * A 403 without a reason may refuse one thread, or this client and so every thread. It is believed of the thread once
 * another one was read since, or at the twelfth time, more than an hour later.
 */
export class RefusalDoubt {
  private read = 0;
  /** By thread: how often it was refused, and how many were read before the first time. */
  private readonly refused = new Map<string, { times: number; read: number }>();

  /** A thread was read. */
  noteRead(): void {
    this.read += 1;
  }

  /** Whether the failure of a reading means that the forum will not show this thread later either. */
  isBelievable(postId: string, error: unknown): boolean {
    if (!(error instanceof UpstreamError) || error.failure !== 'refused') return false;
    if (error.status !== 403 || error.reason === 'blocked') return false;
    const known = this.refused.get(postId) ?? { times: 0, read: this.read };
    known.times += 1;
    this.refused.delete(postId);
    if (this.read > known.read || known.times >= MOST_REFUSALS) return true;
    this.refused.set(postId, known);
    for (const oldest of this.refused.keys()) {
      if (this.refused.size <= MOST_REMEMBERED) break;
      this.refused.delete(oldest);
    }
    return false;
  }
}
