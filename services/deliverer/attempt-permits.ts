/**
 * What is known of an endpoint: `answering` (its last attempt was answered soon), `unknown` (none was made), `silent`
 * (its last attempt was not answered, or not soon).
 */
export type Standing = 'answering' | 'unknown' | 'silent';

/** Served in this order. */
const STANDINGS: readonly Standing[] = ['answering', 'unknown', 'silent'];

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
  private readonly taken: Record<Standing, number> = { answering: 0, unknown: 0, silent: 0 };
  /** Monitor ids, first come first. */
  private readonly waiting: Record<Standing, Set<string>> = {
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
    return STANDINGS.reduce((sum, standing) => sum + this.taken[standing], 0);
  }

  /**
   * Takes up to `wanted` permits; returns how many there were. None while others of the standing wait; one at a time
   * when they run short and the endpoint is not known to answer, so that many such endpoints get one each before some
   * get several.
   */
  take(standing: Standing, wanted: number): number {
    const free = this.waiting[standing].size > 0 ? 0 : this.free(standing);
    const isShort = standing !== 'answering' && free <= this.limit(standing) / 2;
    const granted = Math.min(wanted, isShort ? Math.min(1, free) : free);
    this.taken[standing] += granted;
    return granted;
  }

  /** Gives permits back; who waits gets them by `handOut`. */
  release(standing: Standing, count: number): void {
    this.taken[standing] -= count;
  }

  /** An attempt under way turned out to be of another standing. Its new standing may exceed its share by this. */
  move(from: Standing, to: Standing): void {
    this.taken[from] -= 1;
    this.taken[to] += 1;
  }

  /** Puts a monitor at the end of the queue; one that waits there already keeps its place. */
  waitFor(standing: Standing, monitorId: string): void {
    for (const other of STANDINGS) if (other !== standing) this.waiting[other].delete(monitorId);
    this.waiting[standing].add(monitorId);
  }

  /** Hands the free permits to those who wait, one each: the monitors and their permits' standing. */
  handOut(wantsOne: (monitorId: string) => boolean): { monitorId: string; standing: Standing }[] {
    const handed: { monitorId: string; standing: Standing }[] = [];
    for (const standing of STANDINGS) {
      for (const monitorId of this.waiting[standing]) {
        if (this.free(standing) === 0) break;
        this.waiting[standing].delete(monitorId);
        if (!wantsOne(monitorId)) continue;
        this.taken[standing] += 1;
        handed.push({ monitorId, standing });
      }
    }
    return handed;
  }

  private free(standing: Standing): number {
    const { answering, unknown, silent } = this.taken;
    const room = [this.total - this.inUse];
    if (standing === 'answering') room.push(this.limit('answering') - answering);
    else room.push(this.limit('unknown') - unknown - silent);
    if (standing === 'silent') room.push(this.limit('silent') - silent);
    return Math.max(0, Math.min(...room));
  }

  private limit(standing: Standing): number {
    const share = { answering: 7 / 8, unknown: 3 / 4, silent: 1 / 2 }[standing];
    return Math.floor(this.total * share);
  }
}
