/** To the last attempt: `answering` within a second, `silent` later or not at all, `unknown` without one. */
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

/** The keys by which attempts in flight are counted. */
export interface Endpoint {
  url: string;
  /** Scheme, host and port. */
  origin: string;
  /** The account and the origin. */
  share: string;
}

export function endpointOf(url: string, accountId: string | null): Endpoint {
  const origin = URL.canParse(url) ? new URL(url).origin : url;
  return { url, origin, share: `${accountId}|${origin}` };
}

/**
 * The part of an origin's slots that one account may hold: otherwise 16 URLs of an account that hang would hold all of
 * a host that many accounts use, such as a chat's.
 */
const SHARE = 1 / 4;

/**
 * Limits the attempts in flight per webhook URL, per origin, and per origin and account in this process: one slot per
 * attempt.
 *
 * Monitors wait for a slot in one queue per origin. A free slot goes to the first waiting monitor whose own URL and
 * account have room, so no URL, monitor or account that is busy starves the others of its origin.
 */
export class EndpointSlots {
  private readonly perUrl: number;
  private readonly perOrigin: number;
  private readonly perShare: number;
  private readonly roomOf: (url: string) => number;
  private readonly urls = new Map<string, number>();
  private readonly origins = new Map<string, number>();
  private readonly shares = new Map<string, number>();
  /** By origin: waiting monitor id to its endpoint, first come first served. */
  private readonly waiting = new Map<string, Map<string, Endpoint>>();

  /** @param roomOf how many attempts a URL may have in flight now, where that may be fewer than `perUrl` */
  constructor(perUrl: number, perOrigin: number, roomOf: (url: string) => number = () => perUrl) {
    this.perUrl = perUrl;
    this.perOrigin = perOrigin;
    this.perShare = Math.ceil(perOrigin * SHARE);
    this.roomOf = roomOf;
  }

  take(endpoint: Endpoint, limit: number): number {
    const taken = Math.min(limit, this.free(endpoint));
    if (taken > 0) this.count(endpoint, taken);
    return taken;
  }

  /** Frees slots of the endpoint. @returns the waiting monitors that still need a slot and may take one now */
  release(endpoint: Endpoint, count: number, wantsOne: (monitorId: string) => boolean): string[] {
    this.count(endpoint, -count);
    const queue = this.waiting.get(endpoint.origin);
    if (!queue) return [];
    const woken = new Map<string, Endpoint>();
    for (const [monitorId, waiter] of queue) {
      if ((this.origins.get(endpoint.origin) ?? 0) >= this.perOrigin) break;
      const wanting = wantsOne(monitorId);
      if (wanting && this.free(waiter) === 0) continue;
      queue.delete(monitorId);
      if (!wanting) continue;
      woken.set(monitorId, waiter);
      // No slot is offered twice, or all monitors of a busy account would be woken for one.
      this.count(waiter, 1);
    }
    for (const waiter of woken.values()) this.count(waiter, -1);
    if (queue.size === 0) this.waiting.delete(endpoint.origin);
    return [...woken.keys()];
  }

  /** Adds a monitor to the end of its origin's queue; a monitor that is already in it keeps its position. */
  waitFor(endpoint: Endpoint, monitorId: string): void {
    const queue = this.waiting.get(endpoint.origin) ?? new Map<string, Endpoint>();
    queue.set(monitorId, endpoint);
    this.waiting.set(endpoint.origin, queue);
  }

  private free(endpoint: Endpoint): number {
    const ofUrl = Math.min(this.perUrl, this.roomOf(endpoint.url)) - (this.urls.get(endpoint.url) ?? 0);
    const ofOrigin = this.perOrigin - (this.origins.get(endpoint.origin) ?? 0);
    const ofShare = this.perShare - (this.shares.get(endpoint.share) ?? 0);
    return Math.max(0, Math.min(ofUrl, ofOrigin, ofShare));
  }

  private count(endpoint: Endpoint, change: number): void {
    add(this.urls, endpoint.url, change);
    add(this.origins, endpoint.origin, change);
    add(this.shares, endpoint.share, change);
  }
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
