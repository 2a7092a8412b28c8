/** A thread that may be read for a window. */
export interface Candidate {
  postId: string;
  /** Growth of num_comments in the window: the size to which the probability of the choice is proportional. */
  size: number;
  /** Probability of the first phase. */
  chance: number;
  /** A number in [0, 1) for the choice. */
  hash: number;
}

export interface AuditCount {
  /** Comments of the window that were archived before the reading, from another source than the audit. */
  seen: number;
  /** All comments of the window that the thread shows. */
  total: number;
}

export interface WeightedCount extends AuditCount {
  postId: string;
  weight: number;
}

/**
 * The second phase: threads in the order of hash ⁄ size, as many as the budget allows (priority sampling: Duffield,
 * Lund and Thorup, Journal of the ACM 54, 2007). With t the value of the first thread that was not read, a thread was
 * chosen with the probability min(1, t · size), so its weight is known once the readings have ended.
 */
export class AuditReadings {
  private readonly candidates: readonly Candidate[];
  private readonly counts = new Map<string, AuditCount>();
  private readonly again: Candidate[] = [];
  private next = 0;
  /** Every second one is a failed one again, so that one that always fails keeps no other from being read. */
  private turn = 0;
  private inFlight = 0;

  constructor(candidates: readonly Candidate[]) {
    this.candidates = [...candidates].sort((a, b) => a.hash / a.size - b.hash / b.size);
  }

  get read(): number {
    return this.counts.size;
  }

  get isIdle(): boolean {
    return this.inFlight === 0;
  }

  get isComplete(): boolean {
    return this.counts.size === this.candidates.length;
  }

  take(): Candidate | undefined {
    this.turn += 1;
    const isAgain = this.turn % 2 === 0 || this.next >= this.candidates.length;
    const candidate = (isAgain ? this.again.shift() : undefined) ?? this.candidates[this.next++] ?? this.again.shift();
    if (candidate !== undefined) this.inFlight += 1;
    return candidate;
  }

  learn(postId: string, count: AuditCount): void {
    this.inFlight -= 1;
    this.counts.set(postId, count);
  }

  failed(candidate: Candidate): void {
    this.inFlight -= 1;
    this.again.push(candidate);
  }

  /** The samples of what was read so far. */
  samples(): WeightedCount[] {
    const firstUnread = this.candidates.find(({ postId }) => !this.counts.has(postId));
    const bound = firstUnread === undefined ? Infinity : firstUnread.hash / firstUnread.size;
    return this.candidates.flatMap(({ postId, size, chance, hash }): WeightedCount[] => {
      const count = this.counts.get(postId);
      if (count === undefined || hash / size >= bound) return [];
      return [{ postId, weight: 1 / (chance * Math.min(1, bound * size)), ...count }];
    });
  }
}
