/**
 * How an endpoint responded to its last attempt: `answering` (within a second), `silent` (later or not at all) or
 * `unknown` (no attempt was made yet).
 */
export type Responsiveness = 'answering' | 'unknown' | 'silent';

/** Free permits go to waiting monitors in this order. */
const SERVING_ORDER: readonly Responsiveness[] = ['answering', 'unknown', 'silent'];

/**
 * The semaphore over all attempts of this process: one permit per attempt.
 *
 * Answering endpoints use at most seven eighths of the permits, silent ones at most half, silent and unknown ones
 * together at most three quarters. So a quarter of all permits is reserved for answering endpoints however many
 * receivers are silent, and an eighth for the others however busy the answering ones are.
 *
 * A monitor that gets no permit waits in the queue of its endpoint's responsiveness. A free permit is handed to the
 * first waiting monitor and counts as taken from that moment on.
 */
export class AttemptPermits {
  private readonly total: number;
  private readonly taken: Record<Responsiveness, number> = { answering: 0, unknown: 0, silent: 0 };
  /** Ids of waiting monitors, first come first served. */
  private readonly waiting: Record<Responsiveness, Set<string>> = {
    answering: new Set(),
    unknown: new Set(),
    silent: new Set(),
  };

  /** @param total number of permits, at least 8 */
  constructor(total: number) {
    this.total = total;
  }

  /** Permits in use. */
  get inUse(): number {
    return SERVING_ORDER.reduce((sum, responsiveness) => sum + this.taken[responsiveness], 0);
  }

  /**
   * Takes up to `limit` permits and returns how many it took. Takes none while others of the same responsiveness wait.
   * When at most half of their share is free, silent and unknown endpoints get one permit at a time, so that many of
   * them get one before some get several.
   */
  take(responsiveness: Responsiveness, limit: number): number {
    const free = this.waiting[responsiveness].size > 0 ? 0 : this.free(responsiveness);
    const isShort = responsiveness !== 'answering' && free <= this.shareOf(responsiveness) / 2;
    const granted = Math.min(limit, isShort ? Math.min(1, free) : free);
    this.taken[responsiveness] += granted;
    return granted;
  }

  /** Returns permits. `handOut` gives them to waiting monitors. */
  release(responsiveness: Responsiveness, count: number): void {
    this.taken[responsiveness] -= count;
  }

  /** Moves the permit of an attempt in flight to another responsiveness, which may then exceed its share. */
  move(from: Responsiveness, to: Responsiveness): void {
    this.taken[from] -= 1;
    this.taken[to] += 1;
  }

  /** Adds a monitor to the end of the queue; a monitor that is already in it keeps its position. */
  waitFor(responsiveness: Responsiveness, monitorId: string): void {
    for (const other of SERVING_ORDER) if (other !== responsiveness) this.waiting[other].delete(monitorId);
    this.waiting[responsiveness].add(monitorId);
  }

  /** Hands one free permit to each waiting monitor while there are any; returns the monitors that got one. */
  handOut(wantsOne: (monitorId: string) => boolean): { monitorId: string; responsiveness: Responsiveness }[] {
    const handed: { monitorId: string; responsiveness: Responsiveness }[] = [];
    for (const responsiveness of SERVING_ORDER) {
      for (const monitorId of this.waiting[responsiveness]) {
        if (this.free(responsiveness) === 0) break;
        this.waiting[responsiveness].delete(monitorId);
        if (!wantsOne(monitorId)) continue;
        this.taken[responsiveness] += 1;
        handed.push({ monitorId, responsiveness });
      }
    }
    return handed;
  }

  private free(responsiveness: Responsiveness): number {
    const { answering, unknown, silent } = this.taken;
    const room = [this.total - this.inUse];
    if (responsiveness === 'answering') room.push(this.shareOf('answering') - answering);
    else room.push(this.shareOf('unknown') - unknown - silent);
    if (responsiveness === 'silent') room.push(this.shareOf('silent') - silent);
    return Math.max(0, Math.min(...room));
  }

  private shareOf(responsiveness: Responsiveness): number {
    const share = { answering: 7 / 8, unknown: 3 / 4, silent: 1 / 2 }[responsiveness];
    return Math.floor(this.total * share);
  }
}
