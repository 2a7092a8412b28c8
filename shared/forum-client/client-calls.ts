import { request } from 'undici';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import type { Clock } from '../runtime/clock.ts';
import { rejectOnAbort } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { CallBudget, Claim } from './call-budget.ts';
import type { Lane } from './lanes.ts';
import { header, readJson, toUpstreamError, UpstreamError } from './upstream-error.ts';

/** A thread with thousands of comments has about 3 KB of JSON for each. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;
/** Of these calls the forum takes one at a time from each client. */
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
  throw ownBudgetRefusal('the forum takes no calls of our clients for now', waitMs, refusal);
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
  return new UpstreamError('refused', 'the forum gives this client no token', { status: 401, reason, cause: refusal });
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
  // A request that waits for the connection would notice an abort only at its turn.
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

const tokenAnswer = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() });

const MAX_TOKEN_BYTES = 64 * 1024;
/** Renewal starts this long before expiry, or after nine tenths of a shorter lifetime. */
const RENEW_EARLY_MS = 60_000;

export interface AccessTokenDeps {
  tokenUrl: string;
  client: { id: string; secret: string };
  userAgent: string;
  dispatcher: Dispatcher;
  clock: Clock;
  deadlineMs: number;
}

/**
 * The OAuth token of one client (client credentials, HTTP Basic). All callers share one fetch, and the token is renewed
 * before it expires.
 */
export class AccessToken {
  private readonly deps: AccessTokenDeps;
  private current: { value: string; renewAt: number } | undefined;
  private fetching: Promise<string> | undefined;

  constructor(deps: AccessTokenDeps) {
    this.deps = deps;
  }

  /** The token, if it need not be fetched. */
  cached(): string | undefined {
    return this.current && this.deps.clock() < this.current.renewAt ? this.current.value : undefined;
  }

  /**
   * @throws UpstreamError: refused when the client is not accepted, busy or broken as for any call; or what `request`
   *   throws
   */
  async get(): Promise<string> {
    const cached = this.cached();
    if (cached !== undefined) return cached;
    this.fetching ??= this.fetch().finally(() => {
      this.fetching = undefined;
    });
    return this.fetching;
  }

  /** Discards a token that the forum rejected. A newer token that was fetched meanwhile stays. */
  reject(value: string): void {
    if (this.current?.value === value) this.current = undefined;
  }

  private async fetch(): Promise<string> {
    const { tokenUrl, client, userAgent, dispatcher, clock, deadlineMs } = this.deps;
    const response = await request(tokenUrl, {
      dispatcher,
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        'user-agent': userAgent,
      },
      body: 'grant_type=client_credentials',
      signal: AbortSignal.timeout(deadlineMs),
    });
    const answer = tokenAnswer.safeParse(await readJson(response, MAX_TOKEN_BYTES, clock()));
    if (!answer.success) {
      const path = answer.error.issues[0]?.path.join('.') ?? '';
      throw new UpstreamError('broken', `the token response has an unknown shape at "${path}"`, { reason: 'shape' });
    }
    const lifetimeMs = answer.data.expires_in * 1000;
    this.current = {
      value: answer.data.access_token,
      renewAt: clock() + Math.max(lifetimeMs * 0.9, lifetimeMs - RENEW_EARLY_MS),
    };
    return this.current.value;
  }
}
