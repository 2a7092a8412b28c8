import type { Lane } from '../../../shared/forum-client/lanes.ts';
import type { ForumAnswer, ForumRequest } from '../forum-model/forum-reader.ts';

/** A call that a source wants to make now, as `Call` of the crawler, but with no fetch. */
export interface VirtualCall {
  request: ForumRequest;
  lane: Lane;
  /** What the calls of one kind are counted under. */
  purpose: string;
  /** What of the answer is published; default: all. */
  publishes?: (answer: ForumAnswer) => ForumAnswer;
  /** Runs when the broker has everything; `seenAt` is when the answer arrived, `added` how many comments were new. */
  succeeded: (answer: ForumAnswer, seenAt: number, added: number) => void;
  failed: (error: unknown, now: number) => void;
}

/** The decisions of one of the crawler's sources, joined to the model. The counterpart of `CrawlSource`. */
export interface VirtualSource {
  readonly name: string;
  readonly maxInFlight: number;
  begin: (position: unknown, now: number) => void;
  next: (now: number) => VirtualCall | { waitMs: number };
  position: () => unknown;
}
