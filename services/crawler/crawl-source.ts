import type { Thing } from '../../shared/upstream/parsing/thing-schema.ts';

/** What one round of a source brought. */
export interface Round {
  things: readonly Thing[];
  /** Milliseconds since 1970 at which the things were in hand. */
  seenAt: number;
  /** Called once, after the broker acknowledged every thing of the round: only now may the source move on. */
  acknowledged: () => void;
  /** Milliseconds until the next round should begin. */
  pauseMs: number;
  /** There will never be more. */
  done: boolean;
}

/**
 * Something that yields posts and comments, round after round. A round that was not acknowledged is given again, in
 * whole or in part, by the next call: so nothing is lost where publishing fails, and the dedupe downstream swallows the
 * rest. A source is driven by one runner and called by nobody else.
 */
export interface CrawlSource {
  /** Names the lease and the cursor. */
  readonly name: string;
  /** The source as messages and metrics name it. */
  readonly label: 'post-ids' | 'listings' | 'replay';
  /** From a file, not from the forum: the forum is never asked about its things. */
  readonly replay: boolean;
  /** Starts over from a saved position; undefined: for the first time. */
  begin: (position: unknown) => Promise<void>;
  /** Fetches the next things. Throws UpstreamError when the forum does not answer. */
  round: (signal: AbortSignal) => Promise<Round>;
  /** What `begin` needs to go on after everything acknowledged so far. */
  position: () => unknown;
  /** Lets go of files. */
  end: () => Promise<void>;
}
