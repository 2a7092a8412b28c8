import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Access } from './access.ts';
import type { Answer } from './answer.ts';
import { ok, page } from './answer.ts';
import type { ControlDeps } from './control-routes.ts';
import { controlRoute } from './control-routes.ts';
import type { Fault } from './faults.ts';
import { route } from './routes.ts';

const LARGEST_BODY = 1024 * 1024;

/** The range of the round-trip time, in milliseconds. */
export interface Latency {
  least: number;
  most: number;
}

type ServerDeps = ControlDeps & { latency: Latency };

/** Handles HTTP: access, faults, and the encoding of responses. */
export function requestListener(parts: ServerDeps): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    handle(parts, request, response).catch((error: unknown) => {
      // A bug of the simulator must be visible and must end the request.
      process.stderr.write(`simulator: ${error instanceof Error ? String(error.stack) : String(error)}\n`);
      if (!response.headersSent) send(response, page(500, 'Internal Server Error'), false);
      else response.destroy();
    });
  };
}

async function handle(parts: ServerDeps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { world, faults } = parts;
  const target = request.url ?? '/';
  const url = new URL(target, 'http://localhost');
  const path = url.pathname;
  const method = request.method ?? 'GET';
  const body = method === 'POST' ? await readBody(request) : '';
  world.emission.advance();
  if (path === '/healthz' || path.startsWith('/simulator/')) {
    const isAlive = path === '/healthz';
    send(response, isAlive ? ok({ status: 'ok' }) : controlRoute(parts, method, path, parseJson(body)), true);
    return;
  }
  // Half of the delay comes before the request is handled, half after it, while listings continue to slide.
  const halfWay = oneWayMs(parts.latency);
  if (halfWay > 0) {
    await delay(halfWay);
    world.emission.advance();
  }
  const fault = faults.strike(path, world.now());
  if (fault?.kind === 'outage') {
    request.socket.destroy();
    return;
  }
  if (fault?.kind === 'slow') {
    await delay(fault.delay_ms);
    world.emission.advance();
  }
  const struck = fault && faultAnswer(fault);
  for (const [name, value] of new URLSearchParams(body)) url.searchParams.set(name, value);
  const answer = struck ?? answerApi(parts, request, url, method, target.length);
  if (halfWay > 0) await delay(halfWay);
  send(response, answer, url.searchParams.get('raw_json') === '1', fault?.kind === 'truncated');
}

function oneWayMs({ least, most }: Latency): number {
  return (least + Math.random() * (most - least)) / 2;
}

function answerApi(parts: ControlDeps, request: IncomingMessage, url: URL, method: string, urlLength: number): Answer {
  const { world, access } = parts;
  const now = world.now();
  const agent = Access.refusesAgent(request.headers['user-agent']);
  if (agent) return agent;
  const { authorization } = request.headers;
  if (url.pathname === '/api/v1/access_token') {
    if (method !== 'POST') return { status: 405, body: { message: 'Method Not Allowed', error: 405 } };
    return access.issue(authorization, url.searchParams.get('grant_type'), now);
  }
  const { refusal, headers } = access.admit(authorization, now);
  const answer = refusal ?? route({ world, method, path: url.pathname, query: url.searchParams, urlLength, now });
  return { ...answer, headers: { ...headers, ...answer.headers } };
}

function faultAnswer(fault: Fault): Answer | undefined {
  const retry = { 'retry-after': String(fault.retry_after) };
  if (fault.kind === '429')
    return { status: 429, body: 'Too Many Requests', headers: { 'content-type': 'text/plain', ...retry } };
  if (fault.kind === 'html403') return page(403, 'Blocked');
  return fault.kind === '5xx' ? page(fault.status, 'Our CDN was unable to reach our servers') : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= LARGEST_BODY) chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/**
 * In JSON < > & occur inside strings only, so that escaping the finished text escapes every string, as upstream without
 * raw_json.
 */
function escapeStrings(json: string): string {
  return json.replace(/[<>&]/g, (character) => (character === '<' ? '&lt;' : character === '>' ? '&gt;' : '&amp;'));
}

function send(response: ServerResponse, answer: Answer, raw: boolean, truncated = false): void {
  const isJson = typeof answer.body === 'object';
  let text = isJson ? JSON.stringify(answer.body) : (answer.body as string);
  if (isJson && !raw) text = escapeStrings(text);
  if (truncated) text = text.slice(0, Math.floor(text.length / 2));
  const type = isJson ? 'application/json; charset=UTF-8' : 'text/html; charset=UTF-8';
  const body = Buffer.from(text);
  response.writeHead(answer.status, {
    'content-type': type,
    'cache-control': 'private, max-age=3600',
    ...answer.headers,
    'content-length': body.length,
  });
  response.end(body);
}
