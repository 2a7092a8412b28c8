import type { IncomingHttpHeaders } from 'node:http';
import { Agent } from 'undici';
import type { Dispatcher } from 'undici';
import type { Clock } from '../runtime/clock.ts';
import { errorCode } from '../runtime/errors.ts';
import {
  BlockedAddressError,
  createCheckedConnector,
  createProxyTunnel,
  UnresolvedNameError,
} from './checked-connector.ts';
import { localFaultCode, wasRefusedOnTheWay } from './local-fault.ts';
import { isPublicAddress, urlRefusal } from './public-address.ts';
import type { AddressLookup } from './public-address.ts';

export interface EgressRequest {
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: Buffer;
  /** Deadline for resolving, connecting, TLS, sending and the response together. Milliseconds. */
  deadlineMs: number;
}

/** `local`: the request failed for a reason on this side, which says nothing about the receiver. */
export type EgressError = 'timeout' | 'dns' | 'tls' | 'connect' | 'blocked_address' | 'local';

export type EgressResult =
  | {
      error: null;
      status: number;
      /** How long the response asks to wait. */
      retryAfterMs: number | undefined;
      /** The first 64 KB of the response body as text, as far as they arrived before the deadline. */
      bodyExcerpt: string;
    }
  | { error: Exclude<EgressError, 'local'>; status: 0; detail: string }
  /** `code`: a system error code, or name_servers_away, proxy_away, proxy_refused, ipv6_unreachable. */
  | { error: 'local'; status: 0; detail: string; code: string };

/** Sends HTTP requests to addresses that users choose. All such requests must go through this client. */
export interface EgressClient {
  /**
   * Never rejects: the result contains the error. Redirects are not followed; they are returned like any other
   * response.
   */
  send(request: EgressRequest): Promise<EgressResult>;
  /** Destroys all connections, including those in use. */
  close(): Promise<void>;
}

export interface EgressClientDeps {
  /** Development and tests: allows http:// and all addresses. */
  allowPrivate: boolean;
  /** URL of an HTTP proxy that supports CONNECT. */
  egressProxy: string | undefined;
  lookup: AddressLookup;
  clock: Clock;
  /** Default: public addresses, or all when allowPrivate is set. */
  isAllowed?: (ip: string) => boolean;
}

const MAX_EXCERPT_BYTES = 64 * 1024;
/** No request has a longer deadline than a webhook's 8 s. A connection that nobody waits for is abandoned after it. */
const CONNECT_TIMEOUT_MS = 8_000;
/**
 * Shorter than the 5 s after which common servers close an idle connection, so that a request rarely meets a closing
 * one.
 */
const KEEP_ALIVE_MS = 4_000;

export function createEgressClient(options: EgressClientDeps): EgressClient {
  const tunnel = options.egressProxy ? createProxyTunnel(options.egressProxy, CONNECT_TIMEOUT_MS) : undefined;
  const connect = createCheckedConnector({
    lookup: options.lookup,
    isAllowed: options.isAllowed ?? (options.allowPrivate ? () => true : isPublicAddress),
    tunnel,
    timeoutMs: CONNECT_TIMEOUT_MS,
  });
  const agent = new Agent({
    connect,
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    async send(request) {
      const url = URL.parse(request.url);
      if (!url || urlRefusal(url, options.allowPrivate) !== undefined) {
        return { error: 'blocked_address', status: 0, detail: 'requests to this URL are not allowed' };
      }
      try {
        return await sendRequest(agent, url, request, options.clock);
      } catch (error) {
        const code = localFaultCode(error);
        if (code !== undefined && !(await wasRefusedOnTheWay(error))) {
          return { error: 'local', status: 0, detail: describe(error), code };
        }
        return { error: classify(error), status: 0, detail: describe(error) };
      }
    },
    async close() {
      await agent.destroy();
      await tunnel?.close();
    },
  };
}

function sendRequest(agent: Agent, url: URL, request: EgressRequest, clock: Clock): Promise<EgressResult> {
  const { origin, pathname, search } = url;
  const { method, headers, body = null } = request;
  return new Promise((resolve, reject) => {
    const exchange = new Exchange(clock, request.deadlineMs, { resolve, reject });
    agent.dispatch({ origin, path: pathname + search, method, headers, body }, exchange);
  });
}

/**
 * One request and its response. Only the status and the first bytes matter, so a body that breaks off, never ends or is
 * too long is not an error. undici's `request` would create a stream, an abort signal and their listeners for each.
 *
 * States: sent, or queued until there is a connection → answered (the head arrived) → settled. The deadline settles it
 * in any state.
 */
class Exchange implements Dispatcher.DispatchHandler {
  private readonly clock: Clock;
  private readonly settle: { resolve: (result: EgressResult) => void; reject: (error: Error) => void };
  private readonly timer: NodeJS.Timeout;
  private controller: Dispatcher.DispatchController | undefined;
  private head: { status: number; retryAfterMs: number | undefined } | undefined;
  private readonly chunks: Buffer[] = [];
  private size = 0;
  private failure: Error | undefined;

  constructor(clock: Clock, deadlineMs: number, settle: Exchange['settle']) {
    this.clock = clock;
    this.settle = settle;
    this.timer = setTimeout(() => {
      this.end(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    }, deadlineMs);
  }

  /** Called once the request has a connection. After the deadline it is not sent any more. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.failure) controller.abort(this.failure);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    const { 'retry-after': retryAfter } = headers as Record<string, string | string[] | undefined>;
    const asked = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
    this.head = { status, retryAfterMs: parseRetryAfter(asked, this.clock()) };
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.chunks.push(chunk);
    this.size += chunk.length;
    if (this.size >= MAX_EXCERPT_BYTES) this.end(new Error('the rest of the response is not read'));
  }

  onResponseEnd(): void {
    this.end();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.end(error);
  }

  /** @param failure ends the connection too */
  private end(failure?: Error): void {
    clearTimeout(this.timer);
    this.failure = failure;
    if (failure && this.controller && !this.controller.aborted) this.controller.abort(failure);
    if (this.head) this.settle.resolve({ error: null, ...this.head, bodyExcerpt: this.excerpt() });
    else this.settle.reject(failure ?? new Error('the response has no head'));
  }

  private excerpt(): string {
    if (this.size === 0) return '';
    return Buffer.concat(this.chunks).subarray(0, MAX_EXCERPT_BYTES).toString('utf8');
  }
}

const TLS_CODE = /^(ERR_TLS|ERR_SSL|EPROTO$|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_CA)/;
const TIMEOUT_CODES = new Set(['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT']);

function classify(error: unknown): Exclude<EgressError, 'local'> {
  if (error instanceof BlockedAddressError) return 'blocked_address';
  if (error instanceof UnresolvedNameError) return 'dns';
  if (!(error instanceof Error)) return 'connect';
  const code = errorCode(error) ?? '';
  if (error.name === 'TimeoutError' || TIMEOUT_CODES.has(code)) return 'timeout';
  return TLS_CODE.test(code) ? 'tls' : 'connect';
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message}${cause}`;
}

/**
 * Parses a Retry-After header: seconds (with fractions, as chat products send them) or an HTTP date.
 *
 * @param now milliseconds since the epoch
 * @returns milliseconds to wait, never negative; undefined when the header is absent or unreadable
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  if (!/^[A-Z][a-z]{2},/.test(text)) return undefined;
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - now);
}

/**
 * Parses the wait in Discord's answer to too many requests: `retry_after` of a JSON body, in seconds with a fraction.
 *
 * @returns milliseconds; undefined for any other body
 */
export function parseRetryAfterBody(body: string): number | undefined {
  const seconds = retryAfterField(body);
  return typeof seconds === 'number' && seconds >= 0 ? Math.ceil(seconds * 1000) : undefined;
}

function retryAfterField(body: string): unknown {
  try {
    const answer: unknown = JSON.parse(body);
    return typeof answer === 'object' && answer !== null && 'retry_after' in answer ? answer.retry_after : undefined;
  } catch {
    return undefined;
  }
}
