import { createHash } from 'node:crypto';
import type { Dispatcher } from 'undici';
import { Agent, request } from 'undici';
import { rejectOnAbort } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import { delay } from '../runtime/clock.ts';
import { errorCode } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { AccessToken } from './access-token.ts';
import type { Claim, Payer } from './budget/call-budget.ts';
import { CallBudget } from './budget/call-budget.ts';
import type { BudgetShares, Lane } from './budget/lanes.ts';
import { DEFAULT_SHARES } from './budget/lanes.ts';
import { header, readJson } from './read-response.ts';
import { UpstreamError } from './upstream-error.ts';

const DEFAULT_DEADLINE_MS = 10_000;
/** A thread with thousands of comments has about 3 KB of JSON for each. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;
/** Each group has its own connections, so that slow responses in one do not delay the others. */
const CONNECTIONS = { live: 16, reading: 16, background: 4 } as const;

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
  metrics: Pick<Metrics, 'upstreamRequests' | 'upstreamSeconds' | 'upstreamBudget' | 'upstreamLaneCalls'>;
  logger: Logger;
}

/** A GET, or with a body the POST of a form. */
interface UpstreamRequest {
  url: URL;
  body?: string;
}

/** The state that all calls share. */
interface Session extends Omit<UpstreamDeps, 'clients'> {
  /** By client. */
  tokens: readonly AccessToken[];
  budget: CallBudget;
  dispatchers: Readonly<Record<keyof typeof CONNECTIONS, Dispatcher>>;
}

/** Creates a client of the forum's API over several OAuth clients, each with its own token and its own budget. */
export function createUpstream(options: UpstreamDeps): BudgetedUpstream {
  const { clients, clock, shares = DEFAULT_SHARES } = options;
  const agent = (connections: number) => new Agent({ connections, connect: { timeout: DEFAULT_DEADLINE_MS } });
  const dispatchers = {
    live: agent(CONNECTIONS.live),
    reading: agent(CONNECTIONS.reading),
    background: agent(CONNECTIONS.background),
  };
  const source = { ...options, dispatcher: dispatchers.live, deadlineMs: DEFAULT_DEADLINE_MS };
  const tokens = clients.map((client) => new AccessToken({ ...source, client }));
  const budget = new CallBudget(clients.map(clientName), shares);
  const session: Session = { ...options, tokens, budget, dispatchers };
  return {
    get: (path, params, call) => {
      const url = new URL(options.url + path);
      for (const [name, value] of Object.entries({ ...params, raw_json: '1' })) url.searchParams.set(name, value);
      return callWithRetries(session, { url }, call);
    },
    post: (path, form, call) => {
      const body = new URLSearchParams({ ...form, raw_json: '1' }).toString();
      return callWithRetries(session, { url: new URL(options.url + path), body }, call);
    },
    perSecond: (lane) => budget.perSecond(lane, clock()),
    budget,
    async stop() {
      await Promise.all(Object.values(dispatchers).map((dispatcher) => dispatcher.destroy()));
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
      const answer = await callOnce(
        session,
        upstreamRequest,
        { lane: call.lane ?? 'reading', payer: call.payer },
        signal,
      );
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

async function callOnce(
  session: Session,
  upstreamRequest: UpstreamRequest,
  claim: Claim,
  signal: AbortSignal,
): Promise<unknown> {
  const client = takeClient(session, claim);
  try {
    return await callAs(client, session, upstreamRequest, claim, signal);
  } catch (error) {
    const isStaleToken = error instanceof UpstreamError && error.status === 401;
    if (!isStaleToken || !session.budget.takeRetry(client, claim, session.clock())) throw error;
    return callAs(client, session, upstreamRequest, claim, signal);
  }
}

function takeClient({ budget, clock, metrics }: Session, claim: Claim): number {
  const { client, waitMs } = budget.take(claim, clock());
  metrics.upstreamLaneCalls.inc({ lane: claim.lane, outcome: client === undefined ? 'refused' : 'taken' });
  if (client !== undefined) return client;
  throw new UpstreamError('busy', 'this process has used up its budget of calls to the forum', {
    reason: 'own_budget',
    retryAfterMs: waitMs,
  });
}

/** Makes one request with a call already taken from the client's budget. The budget learns from every response. */
async function callAs(
  client: number,
  session: Session,
  upstreamRequest: UpstreamRequest,
  claim: Claim,
  signal: AbortSignal,
): Promise<unknown> {
  const { budget, clock } = session;
  const accessToken = session.tokens[client];
  const window = budget.clients[client];
  let headers: { remaining?: string; used?: string; reset?: string } = {};
  let token = '';
  try {
    // The token is fetched for all calls: this one may give up waiting, and the others get it.
    token = accessToken ? await rejectOnAbort(accessToken.get(), signal) : '';
    const response = await send(session, upstreamRequest, { token, lane: claim.lane }, signal);
    headers = rateHeaders(response);
    return await readJson(response, MAX_BODY_BYTES, clock());
  } catch (error) {
    if (error instanceof UpstreamError && error.status === 401) accessToken?.reject(token);
    if (error instanceof UpstreamError && error.status === 429) window?.block(clock() + (error.retryAfterMs ?? 0));
    throw error;
  } finally {
    budget.settle(client, claim, headers, clock());
    const remaining = window?.remaining(clock());
    if (Number.isFinite(remaining)) session.metrics.upstreamBudget.set({ client: String(client + 1) }, remaining ?? 0);
  }
}

function send(
  { dispatchers, userAgent }: Session,
  { url, body }: UpstreamRequest,
  { token, lane }: { token: string; lane: Lane },
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const dispatcher = dispatchers[lane === 'live' || lane === 'reading' ? lane : 'background'];
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json', 'user-agent': userAgent };
  if (body === undefined) return request(url, { dispatcher, headers, signal });
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  return request(url, { dispatcher, method: 'POST', headers: { ...headers, ...type }, body, signal });
}

function rateHeaders(response: Dispatcher.ResponseData): { remaining?: string; used?: string; reset?: string } {
  const remaining = header(response, 'x-ratelimit-remaining');
  const used = header(response, 'x-ratelimit-used');
  const reset = header(response, 'x-ratelimit-reset');
  return {
    ...(remaining === undefined ? {} : { remaining }),
    ...(used === undefined ? {} : { used }),
    ...(reset === undefined ? {} : { reset }),
  };
}

const TIMEOUT_CODES = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT']);

function toUpstreamError(error: unknown, deadline: AbortSignal): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const code = errorCode(error);
  const isTimeout = error instanceof Error && error.name === 'TimeoutError';
  if (deadline.aborted || isTimeout || (code !== undefined && TIMEOUT_CODES.has(code))) {
    return new UpstreamError('timeout', 'the forum did not answer in time', { cause: error });
  }
  return new UpstreamError('broken', 'the connection to the forum failed', {
    reason: code,
    retryable: true,
    cause: error,
  });
}
