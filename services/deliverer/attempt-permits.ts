/**
 * What is known of an endpoint: `answering` (its last attempt was answered soon), `unknown` (none was made), `silent`
 * (its last attempt was not answered, or not soon).
 */
export type Responsiveness = 'answering' | 'unknown' | 'silent';

/** Served in this order. */
const SERVING_ORDER: readonly Responsiveness[] = ['answering', 'unknown', 'silent'];

/**
 * The semaphore over all attempts of this process. Endpoints that answer soon may hold all permits but an eighth; those
 * of which nothing is known three quarters together with the silent ones; the silent ones half. So however many
 * receivers are silent, a quarter of all permits serves none but those that answer, and however busy those are, the
 * others go on.
 *
 * Who finds no permit waits in the queue of its standing. A permit that comes free is handed to the first who waits; it
 * counts as taken from that moment on.
 */
export class AttemptPermits {
  private readonly total: number;
  private readonly taken: Record<Responsiveness, number> = { answering: 0, unknown: 0, silent: 0 };
  /** Monitor ids, first come first. */
  private readonly waiting: Record<Responsiveness, Set<string>> = {
    answering: new Set(),
    unknown: new Set(),
    silent: new Set(),
  };

  /** @param total at least 8 */
  constructor(total: number) {
    this.total = total;
  }

  /** Permits in use. */
  get inUse(): number {
    return SERVING_ORDER.reduce((sum, responsiveness) => sum + this.taken[responsiveness], 0);
  }

  /**
   * Takes up to `wanted` permits; returns how many there were. None while others of the standing wait; one at a time
   * when they run short and the endpoint is not known to answer, so that many such endpoints get one each before some
   * get several.
   */
  take(responsiveness: Responsiveness, limit: number): number {
    const free = this.waiting[responsiveness].size > 0 ? 0 : this.free(responsiveness);
    const isShort = responsiveness !== 'answering' && free <= this.limit(responsiveness) / 2;
    const granted = Math.min(limit, isShort ? Math.min(1, free) : free);
    this.taken[responsiveness] += granted;
    return granted;
  }

  /** Gives permits back; who waits gets them by `handOut`. */
  release(responsiveness: Responsiveness, count: number): void {
    this.taken[responsiveness] -= count;
  }

  /** An attempt under way turned out to be of another standing. Its new standing may exceed its share by this. */
  move(from: Responsiveness, to: Responsiveness): void {
    this.taken[from] -= 1;
    this.taken[to] += 1;
  }

  /** Puts a monitor at the end of the queue; one that waits there already keeps its place. */
  waitFor(responsiveness: Responsiveness, monitorId: string): void {
    for (const other of SERVING_ORDER) if (other !== responsiveness) this.waiting[other].delete(monitorId);
    this.waiting[responsiveness].add(monitorId);
  }

  /** Hands the free permits to those who wait, one each: the monitors and their permits' standing. */
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
    if (responsiveness === 'answering') room.push(this.limit('answering') - answering);
    else room.push(this.limit('unknown') - unknown - silent);
    if (responsiveness === 'silent') room.push(this.limit('silent') - silent);
    return Math.max(0, Math.min(...room));
  }

  private limit(responsiveness: Responsiveness): number {
    const share = { answering: 7 / 8, unknown: 3 / 4, silent: 1 / 2 }[responsiveness];
    return Math.floor(this.total * share);
  }
}
