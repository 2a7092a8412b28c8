import type { Dispatcher } from 'undici';
import { Agent, request } from 'undici';
import type { Clock } from '../runtime/clock.ts';
import { delay } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { AccessToken } from './access-token.ts';
import type { Lane } from './rate-budget.ts';
import { RateBudget } from './rate-budget.ts';
import { header, readJson } from './read-response.ts';
import { UpstreamError } from './upstream-error.ts';

const DEFAULT_DEADLINE_MS = 10_000;
/** A thread with thousands of comments has about 3 KB of JSON for each. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;
const CONNECTIONS_PER_HOST = 16;

export interface UpstreamCall {
  /** Label of the metrics: a route pattern, never a path with ids. */
  endpoint: string;
  /** Default: reading. */
  lane?: Lane;
  /** For the whole call with its retries; default 10 s. */
  deadlineMs?: number;
  /** Milliseconds before each further try; default none. */
  retryDelaysMs?: readonly number[];
  signal?: AbortSignal;
}

export interface Upstream {
  /**
   * GET of a path of the forum's API; `raw_json=1` is added, so no text is escaped. Redirects are not followed.
   *
   * @returns the parsed JSON.
   * @throws UpstreamError, or the signal's reason when the caller aborted.
   */
  get(path: string, params: Record<string, string>, call: UpstreamCall): Promise<unknown>;
  /**
   * POST of a form, for the few questions that are too long for a URL; otherwise like `get`. It changes nothing on the forum.
   */
  post(path: string, form: Record<string, string>, call: UpstreamCall): Promise<unknown>;
  /** Calls a second that this lane can keep up with all clients together; Infinity while nothing is known. */
  perSecond(lane: Lane): number;
  /** Ends all connections; calls under way fail. */
  stop(): Promise<void>;
}

export interface UpstreamOptions {
  /** Without a slash at the end. */
  url: string;
  tokenUrl: string;
  /** `<platform>:<app id>:<version> (by /u/<name>)`: the forum answers a generic one with 429 at once. */
  userAgent: string;
  clients: readonly { id: string; secret: string }[];
  clock: Clock;
  metrics: Pick<Metrics, 'upstreamRequests' | 'upstreamSeconds' | 'upstreamBudget'>;
  logger: Logger;
}

interface Client {
  number: string;
  token: AccessToken;
  budget: RateBudget;
}

/** What is asked: a GET, or with a body the POST of a form. */
interface Question {
  url: URL;
  body?: string;
}

/** What every call needs. */
interface Session extends Omit<UpstreamOptions, 'clients'> {
  clients: readonly Client[];
  dispatcher: Dispatcher;
}

/** The forum's API over several OAuth clients, each with its own token and its own budget. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const dispatcher = new Agent({ connections: CONNECTIONS_PER_HOST, connect: { timeout: DEFAULT_DEADLINE_MS } });
  const clients = options.clients.map((client, index): Client => {
    const source = { ...options, client, dispatcher, deadlineMs: DEFAULT_DEADLINE_MS };
    return { number: String(index + 1), token: new AccessToken(source), budget: new RateBudget() };
  });
  return {
    get: (path, params, call) => {
      const url = new URL(options.url + path);
      for (const [name, value] of Object.entries({ ...params, raw_json: '1' })) url.searchParams.set(name, value);
      return callWithRetries({ ...options, clients, dispatcher }, { url }, call);
    },
    post: (path, form, call) => {
      const body = new URLSearchParams({ ...form, raw_json: '1' }).toString();
      return callWithRetries({ ...options, clients, dispatcher }, { url: new URL(options.url + path), body }, call);
    },
    perSecond: (lane) => clients.reduce((sum, client) => sum + client.budget.perSecond(lane, options.clock()), 0),
    stop: () => dispatcher.destroy(),
  };
}

async function callWithRetries(session: Session, question: Question, call: UpstreamCall): Promise<unknown> {
  const deadline = AbortSignal.timeout(call.deadlineMs ?? DEFAULT_DEADLINE_MS);
  const signal = call.signal ? AbortSignal.any([deadline, call.signal]) : deadline;
  for (const wait of [...(call.retryDelaysMs ?? []), undefined]) {
    const startedAt = session.clock();
    try {
      const answer = await callOnce(session, question, call.lane ?? 'reading', signal);
      record(session, call, startedAt, 'ok');
      return answer;
    } catch (error) {
      if (call.signal?.aborted) throw call.signal.reason;
      const failure = toUpstreamError(error, deadline);
      record(session, call, startedAt, failure.failure);
      session.logger.debug({ err: failure, endpoint: call.endpoint, status: failure.status }, 'a call failed');
      if (wait === undefined || !failure.retryable || (failure.retryAfterMs ?? 0) > wait) throw failure;
      await delay(wait, signal);
      if (signal.aborted) throw failure;
    }
  }
  throw new Error('a call ended without an outcome');
}

function record(session: Session, call: UpstreamCall, startedAt: number, outcome: string): void {
  session.metrics.upstreamRequests.inc({ endpoint: call.endpoint, outcome });
  session.metrics.upstreamSeconds.observe({ endpoint: call.endpoint }, (session.clock() - startedAt) / 1000);
}

async function callOnce(session: Session, question: Question, lane: Lane, signal: AbortSignal): Promise<unknown> {
  const client = takeClient(session.clients, lane, session.clock());
  try {
    return await callAs(client, session, question, signal);
  } catch (error) {
    const isStaleToken = error instanceof UpstreamError && error.status === 401;
    if (!isStaleToken || !client.budget.take(lane, session.clock())) throw error;
    return callAs(client, session, question, signal);
  }
}

/** The client that may call in this lane and has most left. */
function takeClient(clients: readonly Client[], lane: Lane, now: number): Client {
  const byRemaining = [...clients].sort((a, b) => b.budget.remaining(now) - a.budget.remaining(now));
  const free = byRemaining.find((client) => client.budget.take(lane, now));
  if (free) return free;
  const retryAfterMs = Math.min(...clients.map((client) => client.budget.waitMs(lane, now)));
  throw new UpstreamError('busy', 'our budget of calls to the forum is used up', {
    reason: 'own_budget',
    retryAfterMs,
  });
}

/** One request with a call already taken from the client's budget; the budget learns from whatever came back. */
async function callAs(client: Client, session: Session, question: Question, signal: AbortSignal): Promise<unknown> {
  let headers: { remaining?: string; used?: string; reset?: string } = {};
  let token = '';
  try {
    token = await client.token.get();
    const response = await send(session, question, token, signal);
    headers = rateHeaders(response);
    return await readJson(response, MAX_BODY_BYTES, session.clock());
  } catch (error) {
    if (error instanceof UpstreamError && error.status === 401) client.token.reject(token);
    if (error instanceof UpstreamError && error.status === 429) {
      client.budget.block(session.clock() + (error.retryAfterMs ?? 0));
    }
    throw error;
  } finally {
    client.budget.settle(headers, session.clock());
    const remaining = client.budget.remaining(session.clock());
    if (Number.isFinite(remaining)) session.metrics.upstreamBudget.set({ client: client.number }, remaining);
  }
}

function send(
  { dispatcher, userAgent }: Session,
  { url, body }: Question,
  token: string,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
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
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
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
