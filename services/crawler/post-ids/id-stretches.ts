/** More are not kept: each one is an outage or a jump that is not caught up on yet. */
const MOST_STRETCHES = 20;
/** More than a day of the whole site's posts, and three hours of catching up; what is older is given up, on record. */
const MOST_IDS = 2_000_000n;

/** The ids from `from` up to but not including `to`. */
export interface IdStretch {
  from: bigint;
  to: bigint;
}

/** Stretches of ids left behind when the head was jumped to, oldest first, bounded in number and length. */
export class IdStretches {
  private stretches: IdStretch[];
  private givenUp: IdStretch[] = [];

  constructor(stretches: readonly IdStretch[] = []) {
    this.stretches = stretches.map((stretch) => ({ ...stretch }));
  }

  get size(): number {
    return this.stretches.length;
  }

  list(): readonly IdStretch[] {
    return this.stretches;
  }

  /** Adds what a jump leaves behind; the oldest ids are given up where there are too many. */
  add(stretch: IdStretch): void {
    if (stretch.from >= stretch.to) return;
    this.stretches.push(stretch);
    while (this.stretches.length > MOST_STRETCHES) this.givenUp.push(this.stretches.shift()!);
    let excess = this.stretches.reduce((sum, { from, to }) => sum + to - from, -MOST_IDS);
    while (excess > 0n) {
      const oldest = this.stretches[0]!;
      const length = oldest.to - oldest.from;
      const cut = length < excess ? length : excess;
      this.givenUp.push({ from: oldest.from, to: oldest.from + cut });
      this.shorten(cut);
      excess -= cut;
    }
  }

  /** The next ids to ask for, at most `count`, none above `highest`. */
  next(count: number, highest: bigint): bigint[] {
    const ids: bigint[] = [];
    const stretch = this.stretches[0];
    for (let id = stretch?.from ?? 0n; stretch && id < stretch.to && id <= highest && ids.length < count; id += 1n) {
      ids.push(id);
    }
    return ids;
  }

  /** The first `count` ids of the oldest stretch were asked for. */
  shorten(count: bigint): void {
    const stretch = this.stretches[0];
    if (!stretch) return;
    stretch.from += count;
    if (stretch.from >= stretch.to) this.stretches.shift();
  }

  /** Removes everything from the stretch that holds `id` on, and returns that stretch; undefined when none holds it. */
  cutAt(id: bigint): IdStretch | undefined {
    const holding = this.stretches.find(({ from, to }) => from <= id && id < to);
    this.stretches = this.stretches.filter(({ to }) => to <= id);
    return holding;
  }

  /** What was given up since the last call of this. */
  takeGivenUp(): IdStretch[] {
    return this.givenUp.splice(0);
  }
}
