import { createHash } from 'node:crypto';
import { Agent, request } from 'undici';
import type { Dispatcher } from 'undici';
import { delay } from '../runtime/clock.ts';
import type { Clock } from '../runtime/clock.ts';
import { rejectOnAbort } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { AccessToken } from './access-token.ts';
import { CallBudget, MAX_IN_FLIGHT } from './call-budget.ts';
import type { Claim, Payer } from './call-budget.ts';
import { DEFAULT_SHARES } from './lanes.ts';
import type { BudgetShares, Lane } from './lanes.ts';
import { header, readJson, toUpstreamError, UpstreamError } from './upstream-error.ts';

const DEFAULT_DEADLINE_MS = 10_000;
/** Leaves enough of the 8 s that most readings have for another client. */
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

/** A thread with thousands of comments has about 3 KB of JSON for each. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;
/** The forum takes one such call at a time from each client. */
const ONE_AT_A_TIME = '/api/morechildren';
/** The code of requests that end because this process stops. */
const STOPPED = 'UND_ERR_DESTROYED';

/** A GET, or with a body the POST of a form. */
export interface UpstreamRequest {
  url: URL;
  body?: string;
  /** Label for metrics. */
  endpoint: string;
}

/** The state that all calls share. */
export interface ClientCallDeps {
  /**
   * The OAuth clients, in the order of the budget's. The id is public. `oneByOne` has a single connection: its calls
   * wait for each other.
   */
  clients: readonly { id: string; token: AccessToken; oneByOne: Dispatcher }[];
  budget: CallBudget;
  dispatchers: Readonly<Record<'live' | 'reading' | 'background', Dispatcher>>;
  userAgent: string;
  /** How long a call waits for the token of one client before it uses another one. */
  tokenPatienceMs: number;
  clock: Clock;
  metrics: Pick<Metrics, 'upstreamRequests' | 'upstreamBudget' | 'upstreamLaneCalls'>;
  logger: Logger;
}

/** `refusal`: the forum refused the client and not the call, so another client may make it. */
type Attempt = { answer: unknown } | { refusal: UpstreamError; of: 'token request' | 'call' };

interface AttemptDeps {
  session: ClientCallDeps;
  client: number;
  upstreamRequest: UpstreamRequest;
  claim: Claim;
  signal: AbortSignal;
  /** Whether a client that works did not try to make this call. */
  hasOthers: boolean;
}

/**
 * Makes a call with one of the clients. When the forum refuses that client (no token, a rejected token, 429), another
 * one makes the call, each at most once.
 *
 * @returns the parsed JSON
 * @throws UpstreamError; an own_budget refusal when no client may call now; or what `request` throws, also for an abort
 */
export async function callForum(
  session: ClientCallDeps,
  upstreamRequest: UpstreamRequest,
  claim: Claim,
  signal: AbortSignal,
): Promise<unknown> {
  const tried = new Set<number>();
  let client = takeClient(session, claim);
  for (;;) {
    tried.add(client);
    const hasOthers = session.budget.choice.hasWorking(tried);
    const attempt = await attemptAs({ session, client, upstreamRequest, claim, signal, hasOthers });
    if ('answer' in attempt) return attempt.answer;
    client = takeAnother(session, claim, tried, attempt.refusal);
    session.metrics.upstreamRequests.inc({ endpoint: upstreamRequest.endpoint, outcome: attempt.refusal.failure });
  }
}

function takeClient({ budget, clock, metrics }: ClientCallDeps, claim: Claim): number {
  const { client, waitMs } = budget.take(claim, clock());
  metrics.upstreamLaneCalls.inc({ lane: claim.lane, outcome: client === undefined ? 'refused' : 'taken' });
  if (client !== undefined) return client;
  throw ownBudgetRefusal('this process has used up its budget of calls to the forum', waitMs);
}

/** @throws UpstreamError: the refusal if nothing else can be said; else how long it takes until a client may call */
function takeAnother(
  { budget, clients, clock }: ClientCallDeps,
  claim: Claim,
  tried: ReadonlySet<number>,
  refusal: UpstreamError,
): number {
  if (clients.length === 1) throw refusal;
  const { client, waitMs } = budget.takeFromAnother(claim, tried, clock());
  if (client !== undefined) return client;
  if (budget.choice.areAllFailing) throw refusal;
  throw ownBudgetRefusal('the forum is not accepting calls from our clients', waitMs, refusal);
}

function ownBudgetRefusal(message: string, retryAfterMs: number, cause?: UpstreamError): UpstreamError {
  return new UpstreamError('busy', message, { reason: 'own_budget', retryAfterMs, cause });
}

/** Makes the call as one client; after a 401 once more with a new token. */
async function attemptAs(deps: AttemptDeps): Promise<Attempt> {
  const { session, client, claim } = deps;
  const attempt = await callAs(deps);
  if (!isRejectedToken(attempt) || !session.budget.takeRetry(client, claim, session.clock())) return attempt;
  const second = await callAs(deps);
  if (isRejectedToken(second)) noteRefusal(session, client, second.refusal);
  return second;
}

function isRejectedToken(attempt: Attempt): attempt is Extract<Attempt, { refusal: UpstreamError }> {
  return 'refusal' in attempt && attempt.of === 'call' && attempt.refusal.status === 401;
}

/** Makes one request with a call already taken from the client's budget. The budget learns from every response. */
async function callAs(deps: AttemptDeps): Promise<Attempt> {
  const { session, client, upstreamRequest, claim, signal } = deps;
  const { budget, clock } = session;
  let headers: { remaining?: string; used?: string; reset?: string } = {};
  let token: string | undefined;
  try {
    const found = await tokenOf(deps);
    if ('refusal' in found) return found;
    token = found.token;
    const response = await send(session, upstreamRequest, { token, client, lane: claim.lane }, signal);
    headers = rateHeaders(response);
    noteStatus(session, client, response.statusCode);
    return { answer: await readJson(response, MAX_BODY_BYTES, clock()) };
  } catch (error) {
    if (!(error instanceof UpstreamError) || (error.status !== 401 && error.status !== 429)) throw error;
    if (error.status === 401) session.clients[client]?.token.reject(token ?? '');
    else noteRefusal(session, client, error);
    return { refusal: error, of: 'call' };
  } finally {
    budget.settle(client, claim, headers, clock());
    const remaining = budget.clients[client]?.remaining(clock());
    if (Number.isFinite(remaining)) session.metrics.upstreamBudget.set({ client: String(client + 1) }, remaining ?? 0);
  }
}

/** A token that arrives too late for this call serves the next ones. */
async function tokenOf({
  session,
  client,
  signal,
  hasOthers,
}: AttemptDeps): Promise<{ token: string } | Extract<Attempt, { refusal: UpstreamError }>> {
  const accessToken = session.clients[client]?.token;
  const token = accessToken === undefined ? '' : accessToken.cached();
  if (accessToken === undefined || token !== undefined) return { token: token ?? '' };
  const fetched = accessToken.get();
  // Also a token request that no call waits for any more shows whether the client is accepted.
  fetched.catch((error: unknown) => {
    noteRefusal(session, client, toUpstreamError(error));
  });
  const patience = hasOthers ? AbortSignal.any([signal, AbortSignal.timeout(session.tokenPatienceMs)]) : signal;
  try {
    return { token: await rejectOnAbort(fetched, patience) };
  } catch (error) {
    if (signal.aborted) throw error;
    const refusal = toUpstreamError(error);
    noteRefusal(session, client, refusal);
    return { refusal: withoutToken(refusal), of: 'token request' };
  }
}

/** A denied token request says nothing about what the call asks for: the client is not accepted. */
function withoutToken(refusal: UpstreamError): UpstreamError {
  if (!['refused', 'not_found', 'moved'].includes(refusal.failure)) return refusal;
  const { reason } = refusal;
  return new UpstreamError('refused', 'the forum does not give this client a token', {
    status: 401,
    reason,
    cause: refusal,
  });
}

function noteRefusal({ budget, clients, clock, logger }: ClientCallDeps, client: number, refusal: UpstreamError): void {
  const { failure, status, reason, retryAfterMs = 0 } = refusal;
  if (reason === STOPPED) return;
  if (status === 429) {
    budget.choice.pause(client, retryAfterMs, clock());
    return;
  }
  if (!budget.choice.failed(client, clock())) return;
  const fields = { client: clients[client]?.id, failure, status, reason, err: refusal };
  logger.warn(fields, 'an OAuth client gets no valid token from the forum');
}

function noteStatus({ budget, clients, logger }: ClientCallDeps, client: number, status: number): void {
  if (status === 401 || status === 429 || !budget.choice.answered(client)) return;
  logger.info({ client: clients[client]?.id }, 'the OAuth client has a valid token of the forum again');
}

function send(
  { clients, dispatchers, userAgent }: ClientCallDeps,
  { url, body }: UpstreamRequest,
  { token, client, lane }: { token: string; client: number; lane: Lane },
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const ofLane = dispatchers[lane === 'live' || lane === 'reading' ? lane : 'background'];
  const dispatcher = url.pathname.endsWith(ONE_AT_A_TIME) ? clients[client]!.oneByOne : ofLane;
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json', 'user-agent': userAgent };
  if (body === undefined) return request(url, { dispatcher, headers, signal });
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  // A request that waits for the connection would notice an abort only when it is sent.
  return rejectOnAbort(
    request(url, { dispatcher, method: 'POST', headers: { ...headers, ...type }, body, signal }),
    signal,
  );
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
