import { isForThisServer } from '../../../../shared/http/limited-server.ts';
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, gzip, inflate, zstdDecompress } from 'node:zlib';

import { createLimitedServer } from '../../../../shared/http/limited-server.ts';
import { errorMessage } from '../../../../shared/runtime/errors.ts';
import type { StatementRunner } from './statement-runner.ts';
import { fault, outputFormat, parseStatement } from './statement.ts';

export interface ClickhouseHttpDeps {
  writers: StatementRunner;
  readers: StatementRunner;
  readOnly: boolean;
  credential: Credential;
}

const LIMITS = {
  connections: 500,
  // Longer than clients keep idle connections, so that the server never closes one that a client is about to use.
  keepAliveMs: 30_000,
  // Inserts and mutations of the services can take long on a busy machine.
  requestMs: 120_000,
  idleMs: 600_000,
};

/** The engine parses statements of up to 256 KB. */
const MAX_READER_BODY_BYTES = 2 ** 20;

/** /ping, and statements by GET (reads only) and POST, with parameters, settings, formats and compression. */
export function clickhouseHttpServer(options: ClickhouseHttpDeps): Server {
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    answer(options, request, response).catch((error: unknown) => sendFault(response, error));
  };
  return createLimitedServer(listener, LIMITS);
}

async function answer(options: ClickhouseHttpDeps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const left = new AbortController();
  // It also closes after a complete answer, when nothing waits for the signal any more.
  response.once('close', () => left.abort());
  refuseBrowserRequests(request);
  const url = new URL(request.url ?? '/', 'http://localhost');
  if (url.pathname === '/ping') {
    response.end('Ok.\n');
    return;
  }
  if (!checkCredential(request, url.searchParams, options.credential)) {
    response.statusCode = 401;
    response.setHeader('WWW-Authenticate', 'Basic realm="ClickHouse"');
    throw fault(516, 'Authentication failed: a user and a password are required.', 'AUTHENTICATION_FAILED');
  }
  const queryId = url.searchParams.get('query_id') ?? randomUUID();
  response.setHeader('X-ClickHouse-Query-Id', queryId);
  response.setHeader('X-ClickHouse-Server-Display-Name', 'embedded');
  response.setHeader('X-ClickHouse-Timezone', 'UTC');
  const readOnly = options.readOnly || request.method !== 'POST';
  const body = await readBody(request, readOnly ? MAX_READER_BODY_BYTES : Infinity);
  const statement = parseStatement(url.searchParams, request.headers, body, readOnly);
  if (statement.sql.trim() === '') {
    throw fault(62, 'Syntax error: failed at position 1 (end of query): Empty query.', 'SYNTAX_ERROR');
  }
  // For a reader session_id has no effect: readers neither set anything nor create tables.
  if (!readOnly && url.searchParams.has('session_id')) {
    throw fault(48, 'The embedded engine has no sessions (session_id).', 'NOT_IMPLEMENTED');
  }
  const started = performance.now();
  const result = await (readOnly ? options.readers : options.writers).run(statement, left.signal);
  const format = outputFormat(statement);
  const { body: sent, encoding } = await encodeBody(result.bytes(), request, url.searchParams);
  response.setHeader('Content-Type', contentType(format));
  response.setHeader('X-ClickHouse-Format', format);
  response.setHeader('X-ClickHouse-Summary', summary(result, performance.now() - started));
  if (encoding !== undefined) response.setHeader('Content-Encoding', encoding);
  response.end(sent);
}

function summary({ rowsRead, bytesRead }: { rowsRead: number; bytesRead: number }, elapsedMs: number): string {
  return JSON.stringify({
    read_rows: String(rowsRead),
    read_bytes: String(bytesRead),
    elapsed_ns: String(Math.round(elapsedMs * 1e6)),
  });
}

function contentType(format: string): string {
  if (/^JSON\w*EachRow/.test(format)) return 'application/x-ndjson; charset=UTF-8';
  if (/^JSON/.test(format)) return 'application/json; charset=UTF-8';
  if (/^CSV/.test(format)) return 'text/csv; charset=UTF-8; header=absent';
  if (/^(TabSeparated|TSV)/.test(format)) return 'text/tab-separated-values; charset=UTF-8';
  if (/^(Parquet|Native|RowBinary|Arrow|ORC|Avro)/.test(format)) return 'application/octet-stream';
  return 'text/plain; charset=UTF-8';
}

const STATUS: Record<number, number> = {
  60: 404,
  81: 404,
  47: 404,
  46: 404,
  62: 400,
  36: 400,
  42: 400,
  43: 400,
  516: 403,
  159: 408,
};

function sendFault(response: ServerResponse, error: unknown): void {
  const text = errorMessage(error);
  const code = Number(/Code: (\d+)/.exec(text)?.[1] ?? 1002);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (response.statusCode !== 401) response.statusCode = STATUS[code] ?? 500;
  // The body of a refused request is not read, so the connection cannot be reused.
  if (code === 516) response.setHeader('Connection', 'close');
  response.setHeader('Content-Type', 'text/plain; charset=UTF-8');
  response.setHeader('X-ClickHouse-Exception-Code', String(code));
  response.end(`${text.startsWith('Code:') ? text : `Code: ${code}. DB::Exception: ${text} (UNKNOWN_EXCEPTION)`}\n`);
}

const DECODERS: Record<string, (body: Buffer, options: { maxOutputLength?: number }) => Promise<Buffer>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
};

/** @throws Error in the engine's format, also for more than `maxBytes` */
async function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let received = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    received += chunk.length;
    if (received > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  const encoding = request.headers['content-encoding'] ?? 'identity';
  const raw = Buffer.concat(chunks);
  const body = encoding === 'identity' || raw.length === 0 ? raw : await decode(encoding, raw, maxBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    throw fault(48, 'The embedded engine takes text formats only.', 'NOT_IMPLEMENTED');
  }
}

const tooLarge = (): Error => fault(307, 'The body is too large.', 'TOO_MANY_BYTES');

async function decode(encoding: string, body: Buffer, maxBytes: number): Promise<Buffer> {
  const decoder = DECODERS[encoding];
  if (decoder === undefined) {
    throw fault(48, `Unknown Content-Encoding ${encoding}.`, 'NOT_IMPLEMENTED');
  }
  try {
    return await decoder(body, Number.isFinite(maxBytes) ? { maxOutputLength: maxBytes } : {});
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge() : error;
  }
}

/** Compresses where both Accept-Encoding and enable_http_compression ask for it. */
async function encodeBody(
  body: Uint8Array,
  request: IncomingMessage,
  search: URLSearchParams,
): Promise<{ body: Uint8Array; encoding: string | undefined }> {
  const accepted = request.headers['accept-encoding'] ?? '';
  const compress = search.get('enable_http_compression') === '1' && accepted.includes('gzip') && body.length > 0;
  return compress ? { body: await promisify(gzip)(body), encoding: 'gzip' } : { body, encoding: undefined };
}

export interface Credential {
  user: string;
  password: string;
}

const LISTENS = { listensOn: '127.0.0.1', names: [] };

/**
 * Refuses web pages by any method: those with Origin or Sec-Fetch-Site, and hosts that are not loopback (DNS
 * rebinding).
 *
 * @throws Error 516
 */
export function refuseBrowserRequests(request: IncomingMessage): void {
  const { origin } = request.headers;
  const site = request.headers['sec-fetch-site'];
  const isPage = origin !== undefined || (site !== undefined && site !== 'none');
  if (isPage) throw fault(516, 'Requests from web pages are refused.', 'AUTHENTICATION_FAILED');
  if (!isForThisServer(request, LISTENS)) {
    throw fault(516, 'The Host header must name this machine.', 'AUTHENTICATION_FAILED');
  }
}

/**
 * By HTTP Basic, the headers X-ClickHouse-User and -Key, or user and password in the URL.
 *
 * @returns false when no credential is given
 * @throws Error 516 when it is wrong, or given in several ways
 */
export function checkCredential(request: IncomingMessage, search: URLSearchParams, expected: Credential): boolean {
  const given = [basicCredential(request), headerCredential(request), urlCredential(search)].filter(
    (one) => one !== undefined,
  );
  const [credential, another] = given;
  if (credential === undefined) return false;
  const isExpected = isEqual(credential.user, expected.user) && isEqual(credential.password, expected.password);
  if (another !== undefined || !isExpected) {
    throw fault(
      516,
      'Authentication failed: password is incorrect, or there is no such user.',
      'AUTHENTICATION_FAILED',
    );
  }
  return true;
}

function basicCredential({ headers }: IncomingMessage): Credential | undefined {
  const { authorization } = headers;
  if (authorization === undefined) return undefined;
  const encoded = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(authorization)?.[1] ?? '';
  const [user = '', password = ''] = Buffer.from(encoded, 'base64').toString('utf8').split(/:(.*)/s);
  return { user, password };
}

function headerCredential({ headers }: IncomingMessage): Credential | undefined {
  const user = headers['x-clickhouse-user'];
  const password = headers['x-clickhouse-key'];
  if (user === undefined && password === undefined) return undefined;
  return { user: String(user ?? ''), password: String(password ?? '') };
}

function urlCredential(search: URLSearchParams): Credential | undefined {
  if (!search.has('user') && !search.has('password')) return undefined;
  return { user: search.get('user') ?? '', password: search.get('password') ?? '' };
}

function isEqual(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
