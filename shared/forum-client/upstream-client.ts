import { createHash } from 'node:crypto';
import { Agent } from 'undici';
import { delay } from '../runtime/clock.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { CallBudget, MAX_IN_FLIGHT } from './call-budget.ts';
import type { Payer } from './call-budget.ts';
import { AccessToken, callForum } from './client-calls.ts';
import type { ClientCallDeps, UpstreamRequest } from './client-calls.ts';
import { DEFAULT_SHARES } from './lanes.ts';
import type { BudgetShares, Lane } from './lanes.ts';
import { isOwnBudgetRefusal, toUpstreamError } from './upstream-error.ts';

const DEFAULT_DEADLINE_MS = 10_000;
/** Of the 8 s that most readings have, this leaves enough for another client. */
const TOKEN_PATIENCE_MS = 3_000;
/**
 * Each group has its own connections, so that slow responses in one do not delay the others. A connection carries one
 * call at a time, and no call that the budget allows waits for one:
 * - live: two listings make 16 calls at once, the id walks 4 each; the rest is for looking up posts;
 * - reading: the budget's limit. One account may have 40 calls in flight;
 * - background: 8 groups, 8 threads, and a few rechecks and audits.
 */
const CONNECTIONS = { live: 48, reading: MAX_IN_FLIGHT, background: 32 } as const;

export interface UpstreamCall {
  /** Label for metrics: a route pattern, never a path with ids. */
  endpoint: string;
  /** Default: reading. */
  lane?: Lane;
  /** The account that a reading call is for. Accounts share the reading lane by their weights. */
  payer?: Payer | undefined;
  /** Deadline for the whole call with its retries; default 10 s. */
  deadlineMs?: number;
  /** Milliseconds before each retry; default: no retries. */
  retryDelaysMs?: readonly number[];
  signal?: AbortSignal;
}

export interface Upstream {
  /**
   * GET of a path of the forum's API. Adds `raw_json=1`, so that texts are not escaped. Redirects are not followed.
   *
   * @returns the parsed JSON
   * @throws UpstreamError, or the signal's reason when the caller aborted
   */
  get(path: string, params: Record<string, string>, call: UpstreamCall): Promise<unknown>;
  /**
   * POST of a form, for the few queries that are too long for a URL; otherwise like `get`. It changes nothing on the
   * forum.
   */
  post(path: string, form: Record<string, string>, call: UpstreamCall): Promise<unknown>;
  /** Calls a second that this lane can sustain over all clients; Infinity while nothing is known. */
  perSecond(lane: Lane): number;
  /** Closes all connections. Calls in flight fail. */
  stop(): Promise<void>;
}

export interface BudgetedUpstream extends Upstream {
  /** The call budget of this process, to be exchanged with the other processes of the installation. */
  budget: Pick<CallBudget, 'report' | 'receive' | 'counts' | 'allowedPerSecond'>;
}

export interface UpstreamDeps {
  /** Without a trailing slash. */
  url: string;
  tokenUrl: string;
  /** `<platform>:<app id>:<version> (by /u/<name>)`. The forum immediately answers a generic User-Agent with 429. */
  userAgent: string;
  clients: readonly { id: string; secret: string }[];
  clock: Clock;
  /** Default: DEFAULT_SHARES. */
  shares?: BudgetShares;
  /** How long a call waits for the token of one client before it uses another one; default 3 s. */
  tokenPatienceMs?: number;
  metrics: Pick<Metrics, 'upstreamRequests' | 'upstreamSeconds' | 'upstreamBudget' | 'upstreamLaneCalls'>;
  logger: Logger;
}

interface Session extends ClientCallDeps {
  metrics: UpstreamDeps['metrics'];
}

/** Creates a client of the forum's API over several OAuth clients, each with its own token and its own budget. */
export function createUpstream(options: UpstreamDeps): BudgetedUpstream {
  const { clock, shares = DEFAULT_SHARES, tokenPatienceMs = TOKEN_PATIENCE_MS } = options;
  // HTTP/2 would put all calls on one connection, and keep using it when it is dead.
  const agent = (connections: number) =>
    new Agent({ connections, allowH2: false, connect: { timeout: DEFAULT_DEADLINE_MS } });
  const dispatchers = {
    live: agent(CONNECTIONS.live),
    reading: agent(CONNECTIONS.reading),
    background: agent(CONNECTIONS.background),
  };
  const source = { ...options, dispatcher: dispatchers.live, deadlineMs: DEFAULT_DEADLINE_MS };
  const clients = options.clients.map((client) => ({
    id: client.id,
    token: new AccessToken({ ...source, client }),
    oneByOne: agent(1),
  }));
  const budget = new CallBudget(clients.map(clientName), shares);
  const session: Session = { ...options, clients, budget, dispatchers, tokenPatienceMs };
  return {
    get: (path, params, call) => {
      const url = new URL(options.url + path);
      for (const [name, value] of Object.entries({ ...params, raw_json: '1' })) url.searchParams.set(name, value);
      return callWithRetries(session, { url, endpoint: call.endpoint }, call);
    },
    post: (path, form, call) => {
      const body = new URLSearchParams({ ...form, raw_json: '1' }).toString();
      return callWithRetries(session, { url: new URL(options.url + path), body, endpoint: call.endpoint }, call);
    },
    perSecond: (lane) => budget.perSecond(lane, clock()),
    budget,
    async stop() {
      const all = [...Object.values(dispatchers), ...clients.map(({ oneByOne }) => oneByOne)];
      await Promise.all(all.map((dispatcher) => dispatcher.destroy()));
    },
  };
}

/** A name that is the same in every process with this client and reveals no secret. */
function clientName({ id }: { id: string }): string {
  return createHash('sha256').update(id).digest('base64url').slice(0, 16);
}

async function callWithRetries(
  session: Session,
  upstreamRequest: UpstreamRequest,
  call: UpstreamCall,
): Promise<unknown> {
  const deadline = AbortSignal.timeout(call.deadlineMs ?? DEFAULT_DEADLINE_MS);
  const signal = call.signal ? AbortSignal.any([deadline, call.signal]) : deadline;
  for (const wait of [...(call.retryDelaysMs ?? []), undefined]) {
    const startedAt = session.clock();
    try {
      const claim = { lane: call.lane ?? 'reading', payer: call.payer };
      const answer = await callForum(session, upstreamRequest, claim, signal);
      record(session, call, startedAt, 'ok');
      return answer;
    } catch (error) {
      if (call.signal?.aborted) throw call.signal.reason;
      const failure = toUpstreamError(error, deadline);
      record(session, call, startedAt, failure.failure);
      session.logger.debug(
        { err: failure, endpoint: call.endpoint, status: failure.status },
        'a call to the forum failed',
      );
      if (wait === undefined || !failure.retryable || (failure.retryAfterMs ?? 0) > wait) throw failure;
      await delay(wait, signal);
      if (signal.aborted) throw failure;
    }
  }
  throw new Error('the retry loop ended without an outcome');
}

function record(session: Session, call: UpstreamCall, startedAt: number, outcome: string): void {
  session.metrics.upstreamRequests.inc({ endpoint: call.endpoint, outcome });
  session.metrics.upstreamSeconds.observe({ endpoint: call.endpoint }, (session.clock() - startedAt) / 1000);
}

/** The shortest wait between two requests for a call. */
const MIN_WAIT_MS = 50;
/** The wait if the budget does not say when to ask again. */
const UNKNOWN_WAIT_MS = 1_000;

/**
 * Makes a call, and makes it again while our own budget refuses it, after the time that the budget says. A refusal is
 * no answer of the forum. Any other error, and a refusal after `maxWaitMs` of waiting or an abort, is thrown.
 */
export async function whenBudgetAllows<T>(
  make: () => Promise<T>,
  { maxWaitMs, signal }: { maxWaitMs: number; signal?: AbortSignal | undefined },
): Promise<T> {
  for (let waitedMs = 0; ;) {
    try {
      return await make();
    } catch (error) {
      if (!isOwnBudgetRefusal(error) || waitedMs >= maxWaitMs || signal?.aborted) throw error;
      const wantedMs = Math.min(error.retryAfterMs ?? UNKNOWN_WAIT_MS, maxWaitMs - waitedMs);
      const waitMs = Math.max(MIN_WAIT_MS, wantedMs);
      waitedMs += waitMs;
      await delay(waitMs, signal);
    }
  }
}

type Calls = Pick<Upstream, 'get' | 'post'>;

/**
 * Waits, after its first call, for the budget: a reading that was broken off for want of it would have to begin again,
 * or count as read what it did not read. `maxWaitMs` says how long a call may wait.
 */
export function patientUpstream(upstream: Calls, maxWaitMs: () => number): Calls {
  let hasBegun = false;
  const patiently = async (make: () => Promise<unknown>, signal: AbortSignal | undefined): Promise<unknown> => {
    const answer = await whenBudgetAllows(make, { maxWaitMs: hasBegun ? maxWaitMs() : 0, signal });
    hasBegun = true;
    return answer;
  };
  return {
    get: (path, params, call) => patiently(() => upstream.get(path, params, call), call.signal),
    post: (path, form, call) => patiently(() => upstream.post(path, form, call), call.signal),
  };
}
