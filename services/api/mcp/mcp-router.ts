import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { hostHeaderValidation, originValidation } from '@modelcontextprotocol/node';
import { localhostAllowedHostnames } from '@modelcontextprotocol/server';
import { raw, Router } from 'express';
import type { ErrorRequestHandler, Request, RequestHandler, Response as Reply } from 'express';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { returnDailySlot, setAdmissionHeaders } from '../admission/admission-middleware.ts';
import { ApiError } from '../http/api-error.ts';
import type { Admission, AdmissionControl } from '../admission/admission-control.ts';
import { disconnectCheck, methodNotAllowed, setCreditsRemaining } from '../http/route.ts';
import type { Tool } from './tool.ts';
import { createToolHandler, createToolServer } from './tool-server.ts';
import type { ToolSession } from './tool-server.ts';

export interface McpDeps {
  admissionControl: AdmissionControl;
  tools: readonly Tool[];
  logger: Logger;
  /** The address of the API, without a trailing slash. */
  baseUrl: string;
  /**
   * Public addresses of the service. Requests must name one of their hosts, and browsers must come from one of them.
   */
  publicUrls: readonly string[];
  /** Accepts access tokens for this server and says where to get one. */
  protection: ResourceProtection;
}

/** How clients without a key get access. */
export interface ResourceProtection {
  /** The audience of tokens: this server's address. */
  resource: string;
  /**
   * The WWW-Authenticate header of a refusal, which says where to sign in.
   *
   * @param isBad whether the request had a token or key that is not valid
   */
  challenge(isBad: boolean): string;
}

const BODY_LIMIT = 256 * 1024;
/** Largest body that is read before the caller is authenticated. */
const UNAUTHENTICATED_BODY_LIMIT = 16 * 1024;
/** For each account, of messages that are no tool calls. */
const MESSAGE_LIMIT = { max: 10, seconds: 1 };
const OPTIONAL = new Set(['arguments', 'cursor', 'capabilities']);
/** Messages per batch: each may be a call whose response has megabytes. */
const MAX_BATCH = 10;

/** POST /mcp: tools for agents over the Model Context Protocol. */
export function createMcpRouter(options: McpDeps): Router {
  const router = Router();
  const readBody = raw({ limit: BODY_LIMIT, type: () => true });
  router.post(
    '/mcp',
    refuseForeignOrigins(options.publicUrls),
    authenticateLargeBodies(options),
    readBody,
    answerMessage(options),
  );
  router.all('/mcp', methodNotAllowed(['POST']));
  router.use('/mcp', addChallenge(options));
  return router;
}

/** Protects against pages that make a browser send requests here (DNS rebinding). */
function refuseForeignOrigins(publicUrls: readonly string[]): RequestHandler {
  const names = [...new Set([...publicUrls.map((url) => new URL(url).hostname), ...localhostAllowedHostnames()])];
  const [isHost, isOrigin] = [hostHeaderValidation(names), originValidation(names)];
  return (request, response, next) => {
    if (!isHost(request, response) || !isOrigin(request, response)) return;
    next();
  };
}

/** Reads a larger body only for an authenticated caller. */
function authenticateLargeBodies({ admissionControl, protection }: McpDeps): RequestHandler {
  return async (request, _response, next) => {
    const length = Number(request.headers['content-length'] ?? Infinity);
    if (length > UNAUTHENTICATED_BODY_LIMIT) {
      await admissionControl.authenticate(request.headers, protection.resource);
    }
    next();
  };
}

function answerMessage(options: McpDeps): RequestHandler {
  return async (request, response) => {
    const body = Buffer.isBuffer(request.body) ? request.body.toString('utf8') : '';
    const parsed = parseMessage(body);
    const message = Array.isArray(parsed) ? parsed.map(withoutNulls) : withoutNulls(parsed);
    // A single call takes its limits in the statement that looks up its key. Calls in a batch take theirs later.
    const first = isCall(message) ? await admitCall(options, request, response) : undefined;
    const isCounted = first !== undefined || (await admitMessages(options, request, message));
    const session = createSession(options, { request, response, first });
    response.set('Cache-Control', 'no-store');
    const handler = createToolHandler(() => createToolServer(options.tools, session));
    const answer = await handler(toWebRequest(request, body), message);
    // The protocol refuses malformed calls of a batch before they take a limit. Each request must count.
    if (!isCounted && !session.hasAdmitted()) await takeMessageLimit(options, request.headers);
    response.status(answer.status);
    for (const [name, value] of answer.headers) response.set(name, value);
    const text = await answer.text();
    if (text === '') response.end();
    else response.send(`${text}\n`);
  };
}

/** undefined for invalid JSON, which the protocol answers by its own rules. */
function parseMessage(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/**
 * Some clients write null for what they leave out: the parameters of a message, and of these the arguments of a tool,
 * the cursor and the capabilities.
 */
function withoutNulls(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || !('params' in message)) return message;
  const { params, ...rest } = message;
  if (params === null) return rest;
  if (typeof params !== 'object') return message;
  const given = Object.entries(params as Record<string, unknown>).flatMap(([name, value]) => {
    if (value !== null || !OPTIONAL.has(name)) return [[name, value] as const];
    return name === 'capabilities' ? [[name, {}] as const] : [];
  });
  return { ...rest, params: Object.fromEntries(given) };
}

function isCall(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'method' in message && message.method === 'tools/call';
}

/** Adds where to sign in to the refusal of a request whose key or token is missing or wrong. */
function addChallenge({ protection }: McpDeps): ErrorRequestHandler {
  return (error: unknown, request, _response, next) => {
    if (!(error instanceof ApiError) || error.code !== 'unauthorized') {
      next(error);
      return;
    }
    const isBad = request.headers.authorization !== undefined || request.headers['x-api-key'] !== undefined;
    const headers = { 'WWW-Authenticate': protection.challenge(isBad) };
    next(new ApiError('unauthorized', error.message, { headers }));
  };
}

async function admitCall(
  { admissionControl, protection }: McpDeps,
  request: Request,
  response: Reply,
): Promise<Admission> {
  const admission = await admissionControl.admitWithToken(request.headers, protection.resource);
  setAdmissionHeaders(response, admission);
  return admission;
}

/**
 * Takes the message limit for each member of a batch that calls no tool; calls take the limits of requests later. A
 * batch that is refused takes it once.
 *
 * @returns whether it took a limit
 * @throws ApiError unauthorized, invalid_request, rate_limited
 */
async function admitMessages(options: McpDeps, { headers }: IncomingMessage, message: unknown): Promise<boolean> {
  const { admissionControl, protection } = options;
  const members: unknown[] = Array.isArray(message) && message.length > 0 ? message : [message];
  const fault = batchFault(members);
  if (fault !== undefined) {
    await takeMessageLimit(options, headers);
    throw new ApiError('invalid_request', `body: ${fault}.`);
  }
  const limited = members.filter((member) => !isCall(member));
  if (limited.length === 0) await admissionControl.authenticate(headers, protection.resource);
  for (const _member of limited) await takeMessageLimit(options, headers);
  return limited.length > 0;
}

/**
 * The transport answers by id. To a second request with the same id, and to a cancelled one, it would send no answer,
 * although the tool ran and was charged.
 *
 * @returns what is wrong with the batch as a whole
 */
function batchFault(members: readonly unknown[]): string | undefined {
  if (members.length > MAX_BATCH) return `a batch must have at most ${MAX_BATCH} messages`;
  const messages = members.filter((member) => typeof member === 'object' && member !== null) as BatchMember[];
  const ids = messages.filter(({ method, id }) => method !== undefined && id !== undefined).map(({ id }) => id);
  const known = new Set(ids);
  if (known.size < ids.length) return 'the requests of a batch must have different ids';
  const isOwn = ({ method, params }: BatchMember) =>
    method === 'notifications/cancelled' && known.has(params?.requestId);
  return messages.some(isOwn) ? 'a batch must not cancel its own requests' : undefined;
}

interface BatchMember {
  method?: unknown;
  id?: unknown;
  params?: { requestId?: unknown } | null;
}

/** @throws ApiError unauthorized, rate_limited */
async function takeMessageLimit(
  { admissionControl, protection }: McpDeps,
  headers: IncomingHttpHeaders,
): Promise<void> {
  const retryAfter = await admissionControl.admitMessage(headers, protection.resource, MESSAGE_LIMIT);
  if (retryAfter === 0) return;
  const message = `Too many messages: the limit is ${MESSAGE_LIMIT.max} a second.`;
  throw new ApiError('rate_limited', message, { retryAfter });
}

interface Exchange {
  request: Request;
  response: Reply;
  /** The admission that the first call uses instead of taking the limits again. */
  first: Admission | undefined;
}

function createSession(
  options: McpDeps,
  { request, response, first }: Exchange,
): ToolSession & { hasAdmitted: () => boolean } {
  let pending = first;
  let hasAdmitted = false;
  let used = 0;
  return {
    logger: options.logger,
    baseUrl: options.baseUrl,
    requestId: String(response.getHeader('X-Request-Id')),
    async admit() {
      const admission = pending ?? (await admitCall(options, request, response));
      pending = undefined;
      hasAdmitted = true;
      return admission;
    },
    hasAdmitted: () => hasAdmitted,
    returnDailySlot: (admission) => returnDailySlot(options.admissionControl, admission, response, options.logger),
    charged({ credits, balance }) {
      // A failure may have been answered while other calls of the batch run.
      if (response.headersSent) return;
      used += credits;
      response.setHeader('X-Credits-Used', String(used));
      setCreditsRemaining(response, balance);
    },
    throwIfDisconnected: disconnectCheck(request),
  };
}

/** Passes on the bytes as received, so that the protocol answers invalid JSON by its own rules. */
function toWebRequest(request: Request, body: string): globalThis.Request {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(request.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  // The protocol requires clients to accept event streams too. This server never sends one, so clients that accept only
  // JSON are served as well.
  if (request.accepts('application/json') !== false) headers.set('Accept', 'application/json, text/event-stream');
  return new Request(`http://localhost${request.originalUrl}`, { method: 'POST', headers, body });
}
