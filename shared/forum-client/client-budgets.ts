/** Wait while the only client that may be used is being tested by another call. */
const PROBE_WAIT_MS = 1_000;

interface Client {
  name: string;
  budget: RateBudget;
  health: ClientHealth;
}

/**
 * The budgets of the OAuth clients of this process, and the choice among them. While another client works, a failing
 * one gets one call after each back-off, as a test. A client whose window is unknown gets one call at a time while
 * others have calls left. If no client works, the cause is probably not the clients, and all may be used. Times are
 * milliseconds since 1970.
 */
export class ClientBudgets {
  readonly budgets: readonly RateBudget[];
  private readonly clients: readonly Client[];

  /** @param names of the clients, see BudgetReport */
  constructor(names: readonly string[]) {
    this.clients = names.map((name) => ({ name, budget: new RateBudget(), health: new ClientHealth() }));
    this.budgets = this.clients.map(({ budget }) => budget);
  }

  get areAllFailing(): boolean {
    return this.clients.every(({ health }) => health.isFailing);
  }

  /** Whether a client that is not among `tried` works, as far as known. */
  hasWorking(tried: ReadonlySet<number>): boolean {
    return this.clients.some(({ health }, index) => !tried.has(index) && !health.isFailing);
  }

  /**
   * Takes a call: first of a client that is to be tested, then of the one with the most calls left.
   *
   * @param tried clients that must not be chosen
   * @returns the index of the client; undefined when none may call
   */
  take(now: number, tried: ReadonlySet<number> = new Set()): number | undefined {
    return [...this.clients.entries()]
      .filter(([index, client]) => !tried.has(index) && this.healthWaitMs(client, now) === 0)
      .map(([index, client]) => ({ index, budget: client.budget, ...rankOf(client, now) }))
      .sort(byRank)
      .find(({ budget }) => budget.take(now))?.index;
  }

  /** Milliseconds until the first client may call. */
  waitMs(now: number): number {
    const waits = this.clients.map((client) => Math.max(client.budget.waitMs(now), this.healthWaitMs(client, now)));
    return Math.max(1, Math.min(...waits));
  }

  /** Blocks a client that got a 429. A single client is blocked for exactly as long as the forum asks. */
  pause(client: number, retryAfterMs: number, now: number): void {
    const { budget, health } = this.client(client);
    budget.block(now + (this.clients.length === 1 ? retryAfterMs : health.pauseMs(retryAfterMs, now)));
  }

  /** Notes that a client got no token, or that its fresh token was rejected. Returns whether a phase of it begins. */
  failed(client: number, now: number): boolean {
    const begins = this.client(client).health.failed(now);
    if (this.areAllFailing) for (const { health } of this.clients) health.forgive(now);
    return begins;
  }

  /** Notes that the forum accepted a client's token. Returns whether a phase of failures ends. */
  answered(client: number): boolean {
    return this.client(client).health.answered();
  }

  /** Calls a second that all clients together can sustain; Infinity while nothing is known. */
  perSecond(now: number): number {
    const usable = this.usable();
    const known = usable.map(({ budget }) => budget.perSecond(now)).filter((rate) => rate !== Infinity);
    const unknown = usable.length - known.length;
    const sum = known.reduce((total, rate) => total + rate, 0);
    if (unknown === 0 && known.length > 0) return sum;
    // A client that was not used yet is assumed to be like the others that may call.
    const calling = known.filter((rate) => rate > 0).length;
    return calling === 0 ? Infinity : sum + (sum * unknown) / calling;
  }

  /** Seconds until the clients' windows end, weighted by the calls left in each. */
  secondsLeft(now: number): number {
    const known = this.usable().filter(({ budget }) => Number.isFinite(budget.perSecond(now)));
    const left = known.reduce((sum, { budget }) => sum + budget.remaining(now), 0);
    const perSecond = known.reduce((sum, { budget }) => sum + budget.perSecond(now), 0);
    return perSecond === 0 ? Infinity : left / perSecond;
  }

  /**
   * Calls a second that the forum allows all clients together; undefined until a whole window of one of them was seen.
   * A client whose window is not known is assumed to be like the others.
   */
  allowedPerSecond(): number | undefined {
    const usable = this.usable();
    const known = usable.map(({ budget }) => budget.allowedPerSecond()).filter((rate) => rate !== undefined);
    if (known.length === 0) return undefined;
    return (known.reduce((total, rate) => total + rate, 0) * usable.length) / known.length;
  }

  /** By client name; null: the forum has not sent its window yet. */
  report(now: number): Record<string, WindowReport | null> {
    return Object.fromEntries(this.clients.map(({ name, budget }) => [name, budget.report(now) ?? null]));
  }

  /** Merges the windows that another process reported, `ageMs` ago; returns what part of its clients are ours. */
  learn(windows: Readonly<Record<string, WindowReport | null>>, ageMs: number, now: number): number {
    const ours = this.clients.filter(({ name }) => Object.hasOwn(windows, name));
    for (const { name, budget } of ours) {
      const window = windows[name];
      if (window) budget.learn(window, ageMs, now);
    }
    return ours.length / Math.max(1, Object.keys(windows).length);
  }

  private client(index: number): Client {
    const client = this.clients[index];
    if (client === undefined) throw new Error(`there is no client ${index}`);
    return client;
  }

  /** Clients that count: those that work, or all when none does. */
  private usable(): readonly Client[] {
    return this.areAllFailing ? this.clients : this.clients.filter(({ health }) => !health.isFailing);
  }

  /** Milliseconds until a failing client may be tested, as far as that is known; 0: now. */
  private healthWaitMs({ budget, health }: Client, now: number): number {
    if (!health.isFailing || this.areAllFailing) return 0;
    const waitMs = Math.max(0, health.waitMs(now));
    return waitMs === 0 && budget.callsInFlight > 0 ? PROBE_WAIT_MS : waitMs;
  }
}

/** The place of a client in the choice: a lower order first, and within it a higher preference. */
interface Rank {
  order: number;
  preference: number;
}

function rankOf({ budget, health }: Client, now: number): Rank {
  if (health.isFailing) return { order: 0, preference: -health.waitMs(now) };
  if (!budget.isUnseen) return { order: 2, preference: budget.remaining(now) };
  return { order: budget.callsInFlight === 0 ? 1 : 3, preference: -budget.callsInFlight };
}

function byRank(a: Rank, b: Rank): number {
  return a.order - b.order || b.preference - a.preference;
}

/** The back-off after the first failure in a row; each further one doubles it. */
const FIRST_BACK_OFF_MS = 30_000;
const LONGEST_BACK_OFF_MS = 600_000;
/** The shortest and the longest pause after a 429, unless the forum asks for a longer one. */
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Whether the forum accepts an OAuth client, as far as its calls tell. States: working → failing (a token request
 * failed, or a fresh token was rejected) → working (the forum accepted a token). A failing client may be tried again
 * after each back-off. Times are milliseconds since 1970.
 */
export class ClientHealth {
  private failures = 0;
  /** When a failing client may be tried again. */
  private retryAt = Number.NEGATIVE_INFINITY;
  private busySince: number | undefined;

  /** From a failure until the next success. */
  get isFailing(): boolean {
    return this.failures > 0;
  }

  /** Milliseconds until a failing client may be tried again; at most 0: now. */
  waitMs(now: number): number {
    return this.isFailing ? this.retryAt - now : 0;
  }

  /** Calls that fail together count once. Returns whether a phase of failures begins. */
  failed(now: number): boolean {
    const begins = !this.isFailing;
    if (!begins && now < this.retryAt) return false;
    this.retryAt = now + Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** this.failures);
    this.failures += 1;
    return begins;
  }

  /** Call this after each answer to a valid token. Returns whether a phase of failures ends. */
  answered(): boolean {
    const ends = this.isFailing;
    this.failures = 0;
    this.busySince = undefined;
    return ends;
  }

  /** Returns to the first back-off, because the cause of the failures is not this client. */
  forgive(now: number): void {
    if (!this.isFailing) return;
    this.failures = 1;
    this.retryAt = Math.min(this.retryAt, now + FIRST_BACK_OFF_MS);
  }

  /**
   * The pause after a 429, in milliseconds: what the forum asks for, but at least a quarter of the time for which every
   * call of this client has got one.
   */
  pauseMs(retryAfterMs: number, now: number): number {
    this.busySince ??= now;
    const shortestMs = Math.min(LONGEST_PAUSE_MS, (now - this.busySince) / 4);
    return Math.max(SHORTEST_PAUSE_MS, retryAfterMs, shortestMs);
  }
}

/** Interval of the calls that test a window whose headers contradict themselves. */
const PROBE_MS = 30_000;
/**
 * Windows whose ends differ by less are the same window: the header counts whole seconds, and a report is up to two
 * slow exchanges older than it says.
 */
const SAME_WINDOW_MS = 10_000;
/**
 * The forum's windows are ten minutes. A header beyond this limit is broken, and one broken header must not stop all
 * calls for years.
 */
const MAX_WINDOW_MS = 3_600_000;

/**
 * What a process knows of a client's window, reported to the others that use the client. Times are milliseconds from
 * now.
 */
export interface WindowReport {
  limit: number;
  left: number;
  endsInMs: number;
  /** Remaining pause that the forum asked for; 0: none. */
  blockedForMs: number;
}

/**
 * The calls left to one client in the current window, as the forum's own headers say. Nothing is assumed before the
 * first response, and no constant overrides a header. Times are milliseconds since 1970.
 */
export class RateBudget {
  private limit: number | undefined;
  private left = Number.POSITIVE_INFINITY;
  private endsAt = Number.POSITIVE_INFINITY;
  /** The longest window seen. A new window is assumed to be as long until the forum says otherwise. */
  private windowMs = 0;
  private blockedUntil = 0;
  private inFlight = 0;
  /** Whether the forum sent the headers of this window, to this process or another one. */
  private isKnown = false;
  /** Whether the last headers said that nothing is left of a window of which nothing was used. */
  private isImplausible = false;
  private probedAt = Number.NEGATIVE_INFINITY;
  /** End of the last window, which a late report may still describe. */
  private lastEndedAt = Number.NEGATIVE_INFINITY;
  /** Whether a window has ended, and with it whether `windowMs` is the length of a whole window. */
  private hasEndedWindow = false;
  private hasWholeWindow = false;

  /** Whether the forum has never sent its headers, neither to this process nor to another one. */
  get isUnseen(): boolean {
    return this.limit === undefined;
  }

  /** Calls taken and not settled yet. */
  get callsInFlight(): number {
    return this.inFlight;
  }

  /** Calls left in this window; Infinity before the first response. */
  remaining(now: number): number {
    this.rollWindow(now);
    return Math.max(0, this.left);
  }

  /** Takes one call; false when there is none. Pass every call taken to `settle` exactly once. */
  take(now: number): boolean {
    if (this.waitMs(now) > 0) return false;
    if (this.left < 1) this.probedAt = now;
    this.left -= 1;
    this.inFlight += 1;
    return true;
  }

  /**
   * Settles a call that was taken. Header values are as received: `remaining` and `used` are decimal fractions, `reset`
   * is in seconds.
   */
  settle(headers: { remaining?: string; used?: string; reset?: string }, now: number): void {
    this.inFlight -= 1;
    const remaining = parse(headers.remaining);
    const reset = parse(headers.reset);
    if (remaining === undefined || reset === undefined || reset < 0 || reset * 1000 > MAX_WINDOW_MS) return;
    const used = parse(headers.used);
    this.left = remaining - this.inFlight;
    this.endsAt = now + reset * 1000;
    this.windowMs = Math.max(this.windowMs, reset * 1000);
    this.isImplausible = remaining < 1 && used !== undefined && used < 1;
    this.isKnown = !this.isImplausible;
    if (this.isImplausible) {
      this.probedAt = now;
      return;
    }
    this.limit = used === undefined ? Math.max(this.limit ?? 0, remaining) : remaining + used;
    this.hasWholeWindow ||= this.hasEndedWindow;
  }

  /** Blocks the client until the end of a pause that the forum asked for. */
  block(until: number): void {
    this.blockedUntil = Math.max(this.blockedUntil, until);
  }

  /** The report for other processes; undefined while the forum has not sent the headers of this window. */
  report(now: number): WindowReport | undefined {
    this.rollWindow(now);
    if (!this.isKnown || this.limit === undefined) return undefined;
    const blockedForMs = Math.max(0, this.blockedUntil - now);
    return { limit: this.limit, left: this.remaining(now), endsInMs: this.endsAt - now, blockedForMs };
  }

  /**
   * Merges a report that is `ageMs` old. Within one window the lower number is the newer one. A later window replaces
   * an earlier one.
   */
  learn({ limit, left, endsInMs, blockedForMs }: WindowReport, ageMs: number, now: number): void {
    this.rollWindow(now);
    this.block(now + blockedForMs - ageMs);
    const endsAt = now + endsInMs - ageMs;
    if (endsAt <= now || endsInMs > MAX_WINDOW_MS || limit < 1) return;
    if (Math.abs(endsAt - this.lastEndedAt) < SAME_WINDOW_MS) return;
    if (this.isKnown && Math.abs(endsAt - this.endsAt) < SAME_WINDOW_MS) {
      this.left = Math.min(this.left, left);
    } else if (!this.isKnown || endsAt > this.endsAt) {
      this.limit = limit;
      this.left = left - this.inFlight;
      this.endsAt = endsAt;
      this.windowMs = Math.max(this.windowMs, endsInMs);
      this.isKnown = true;
      this.isImplausible = false;
    }
  }

  /** Milliseconds until a call may be made; 0: now. */
  waitMs(now: number): number {
    this.rollWindow(now);
    if (this.blockedUntil > now) return this.blockedUntil - now;
    if (this.left >= 1) return 0;
    const untilNextMs = Math.max(1, this.endsAt - now);
    return this.mayProbe() ? Math.min(untilNextMs, Math.max(0, this.probedAt + PROBE_MS - now)) : untilNextMs;
  }

  /**
   * Calls a second that can be sustained until the window ends; Infinity while nothing is known, 0 when none may be
   * made.
   */
  perSecond(now: number): number {
    this.rollWindow(now);
    if (this.blockedUntil > now) return 0;
    if (this.left < 1 && this.mayProbe()) return 1000 / PROBE_MS;
    if (this.limit === undefined || !Number.isFinite(this.endsAt)) return Number.POSITIVE_INFINITY;
    return Math.max(0, this.left) / Math.max(1, (this.endsAt - now) / 1000);
  }

  /** Calls a second that a whole window allows; undefined until one was seen from its beginning. */
  allowedPerSecond(): number | undefined {
    if (!this.hasWholeWindow || this.limit === undefined || this.windowMs === 0) return undefined;
    return (this.limit * 1000) / this.windowMs;
  }

  /**
   * A window that is used up makes no call until its end. But wrong headers, or a window of unknown end, must not stop
   * all calls: a call now and then lets the forum correct them. At worst it is answered by 429.
   */
  private mayProbe(): boolean {
    return this.isImplausible || !Number.isFinite(this.endsAt);
  }

  private rollWindow(now: number): void {
    if (now < this.endsAt) return;
    this.lastEndedAt = Math.max(this.lastEndedAt, this.endsAt);
    // At least one call, whose headers correct a wrong limit.
    this.left = Math.max(1, (this.limit ?? Number.POSITIVE_INFINITY) - this.inFlight);
    this.endsAt = Math.max(now, this.endsAt) + (this.windowMs || Number.POSITIVE_INFINITY);
    this.isKnown = false;
    this.isImplausible = false;
    this.hasEndedWindow = true;
  }
}

function parse(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '') return undefined;
  const value = Number(header);
  return Number.isFinite(value) ? value : undefined;
}
