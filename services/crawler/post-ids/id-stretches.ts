/** Each stretch comes from one outage or jump that is not caught up yet. Beyond this number the oldest are given up. */
const MAX_STRETCHES = 20;
/** More than a day of the whole site's posts, and three hours of catching up. Older ids are given up as gaps. */
const MAX_IDS = 2_000_000n;

/** The ids from `from` up to but not including `to`. */
export interface IdStretch {
  from: bigint;
  to: bigint;
}

/** A stretch that is being caught up, and how many of its ids were found so far. */
export type OpenStretch = IdStretch & { found: number };

/** The stretches of ids that the walk skipped when it jumped, oldest first, bounded in number and length. */
export class IdStretches {
  private stretches: OpenStretch[];
  private givenUp: IdStretch[] = [];
  private caughtUp: OpenStretch[] = [];

  constructor(stretches: readonly OpenStretch[] = []) {
    this.stretches = stretches.map((stretch) => ({ ...stretch }));
  }

  get size(): number {
    return this.stretches.length;
  }

  list(): readonly OpenStretch[] {
    return this.stretches;
  }

  /** Adds a skipped stretch. Gives up the oldest ids where there are too many. */
  add(stretch: IdStretch): void {
    if (stretch.from >= stretch.to) return;
    this.stretches.push({ ...stretch, found: 0 });
    while (this.stretches.length > MAX_STRETCHES) {
      const { from, to } = this.stretches.shift()!;
      this.givenUp.push({ from, to });
    }
    let excess = this.stretches.reduce((sum, { from, to }) => sum + to - from, -MAX_IDS);
    while (excess > 0n) {
      const oldest = this.stretches[0]!;
      const length = oldest.to - oldest.from;
      const cut = length < excess ? length : excess;
      this.givenUp.push({ from: oldest.from, to: oldest.from + cut });
      oldest.from += cut;
      if (oldest.from >= oldest.to) this.stretches.shift();
      excess -= cut;
    }
  }

  /** Returns the next ids to request, at most `count`, none above `highest`. */
  next(count: number, highest: bigint): bigint[] {
    const ids: bigint[] = [];
    const stretch = this.stretches[0];
    for (let id = stretch?.from ?? 0n; stretch && id < stretch.to && id <= highest && ids.length < count; id += 1n) {
      ids.push(id);
    }
    return ids;
  }

  /**
   * Removes `count` ids from `first` on, the begin of the oldest stretch, after they were requested and `found` of them
   * exist. Does nothing if the oldest stretch has changed since the ids were handed out.
   */
  shorten(first: bigint, count: bigint, found: number): void {
    const stretch = this.stretches[0];
    if (stretch?.from !== first) return;
    stretch.from += count;
    stretch.found += found;
    if (stretch.from < stretch.to) return;
    this.stretches.shift();
    this.caughtUp.push(stretch);
  }

  /**
   * Removes the stretch that holds `id` and all later ones, which count as caught up. Returns the one that holds it.
   */
  cutAt(id: bigint): IdStretch | undefined {
    const holding = this.stretches.find(({ from, to }) => from <= id && id < to);
    this.caughtUp.push(...this.stretches.filter(({ to }) => to > id));
    this.stretches = this.stretches.filter(({ to }) => to <= id);
    return holding;
  }

  /** Returns the stretches whose ids were all requested since the last call. */
  takeCaughtUp(): OpenStretch[] {
    return this.caughtUp.splice(0);
  }

  /** Returns the stretches given up since the last call. */
  takeGivenUp(): IdStretch[] {
    return this.givenUp.splice(0);
  }
}
