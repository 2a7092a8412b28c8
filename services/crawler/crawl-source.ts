import type { Thing } from '../../shared/upstream/parsing/thing-schema.ts';

/** The result of one round of a source. */
export interface Round {
  things: readonly Thing[];
  /** When the things were received, in milliseconds since 1970. */
  seenAt: number;
  /** Called once, after the broker has acknowledged every thing of the round. Only then may the source advance. */
  acknowledged: () => void;
  /** Milliseconds until the next round should begin. */
  pauseMs: number;
  /** True when the source has no more things, now or later. */
  done: boolean;
}

/**
 * A source of posts and comments, read in rounds. The next call of `round` returns an unacknowledged round again, in
 * whole or in part. So nothing is lost when publishing fails, and the dedupe removes the repetitions. One SourceRunner
 * drives each source; no other code calls it.
 */
export interface CrawlSource {
  /** The name of the lease and the cursor in Postgres; unique among all sources. */
  readonly name: string;
  /** The name of the source in messages and metric labels. */
  readonly label: 'post-ids' | 'listings' | 'replay';
  /** True when the things come from a file: the forum is never asked about them. */
  readonly replay: boolean;
  /** Starts from a saved position; undefined on the first start ever. Called each time that the lease is acquired. */
  begin: (position: unknown) => Promise<void>;
  /** Fetches the next things. Throws UpstreamError when the forum does not answer; the runner then backs off. */
  round: (signal: AbortSignal) => Promise<Round>;
  /** The position that `begin` needs to resume after everything acknowledged so far; stored as JSON. */
  position: () => unknown;
  /** Closes files and leaves the shared pace. Called when the lease is released or lost. */
  end: () => Promise<void>;
}
