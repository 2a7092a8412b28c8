import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHash, randomBytes } from 'node:crypto';
import { randomText } from '../../shared/domain/identifiers.ts';
import { createOutboundDoor } from '../../shared/http/outbound-door.ts';
import type { OutboundDoor } from '../../shared/http/outbound-door.ts';
import { createMailer } from '../../shared/mail/create-mailer.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { freePort } from './free-port.ts';
import { Browser } from './oauth-browser.ts';
import type { Fetch, SeenPage } from './oauth-browser.ts';
import { codeIn } from './smtp-mail.ts';
import { startSmtpReceiver } from './smtp-receiver.ts';
import type { SmtpReceiver } from './smtp-receiver.ts';
import { startTestApi } from './test-api.ts';
import type { TestApi } from './test-api.ts';
import { createTestDatabase } from './test-database.ts';
import type { TestDatabase } from './test-database.ts';
import { startTestForum } from './test-forum.ts';

export const REDIRECT = 'https://client.example.test/callback';
/** Hosts of documents end so; they are served on loopback. */
const DOCUMENT_HOST = /^https:\/\/[a-z0-9.-]+\.example\.test\//;

/** What a site answers to whoever asks for one of its documents. */
export type Site = (url: URL) => { status?: number; body: string; headers?: Record<string, string> } | undefined;

export interface OAuthInstallation {
  db: TestDatabase;
  smtp: SmtpReceiver;
  /** Two processes over one database; what goes through `fetch` is answered by each in turn. */
  apis: [TestApi, TestApi];
  /** The public address of both. */
  baseUrl: string;
  resource: string;
  fetch: Fetch;
  /** Sites that documents are fetched from, and how often one was asked. */
  sites: Map<string, Site>;
  asked: Map<string, number>;
  /** The way to them. */
  door: OutboundDoor;
  /** Before each test: the clock right again, no limit touched. */
  reset(): Promise<void>;
  /** Stops both processes, and starts them again. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Two API processes behind one address, a real forum, a real mail server, and sites with documents of clients. */
export async function startOAuthInstallation(logger?: Logger): Promise<OAuthInstallation> {
  const [db, forum, smtp, port] = await Promise.all([
    createTestDatabase(),
    startTestForum(),
    startSmtpReceiver(),
    freePort(),
  ]);
  const baseUrl = `http://127.0.0.1:${port}`;
  const sites = new Map<string, Site>();
  const asked = new Map<string, number>();
  const documents = await serveDocuments(sites, asked);
  const door = doorTo(documents.port);
  const mailer = createMailer({ smtpUrl: smtp.url, from: 'Forum <no-reply@forum.test>', outbox: 'unused' });
  const start = (on?: number) =>
    startTestApi(db.pool, {
      baseUrl,
      forum: forum.forum,
      mailer,
      door: doorTo(documents.port),
      ...(on === undefined ? {} : { port: on }),
      ...(logger ? { logger } : {}),
    });
  const apis: [TestApi, TestApi] = [await start(port), await start()];
  let turn = 0;
  return {
    db,
    smtp,
    apis,
    baseUrl,
    resource: `${baseUrl}/mcp`,
    sites,
    asked,
    door,
    fetch: (url, init) => {
      const { href } = new URL(url);
      const target = href.startsWith(baseUrl) ? apis[turn++ % 2]!.url + href.slice(baseUrl.length) : href;
      return fetch(target, init);
    },
    async reset() {
      await db.setShift('0');
      await db.pool.query('DELETE FROM recent_uses');
    },
    async restart() {
      await Promise.all(apis.map((api) => api.stop()));
      apis[0] = await start(port);
      apis[1] = await start();
    },
    async stop() {
      await Promise.all(apis.map((api) => api.stop()));
      await door.close();
      await documents.stop();
      await smtp.stop();
      await forum.stop();
      await db.drop();
    },
  };
}

async function serveDocuments(
  sites: Map<string, Site>,
  asked: Map<string, number>,
): Promise<{ port: number; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    const url = new URL(`https://${String(request.headers['x-site'])}${request.url ?? ''}`);
    asked.set(url.href, (asked.get(url.href) ?? 0) + 1);
    const answer = sites.get(url.host)?.(url);
    response.writeHead(answer?.status ?? (answer ? 200 : 404), {
      'content-type': 'application/json',
      ...answer?.headers,
    });
    response.end(answer?.body ?? '{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** A real door that finds the sites with documents on loopback, without TLS. */
function doorTo(port: number): OutboundDoor {
  const door = createOutboundDoor({
    allowPrivate: true,
    egressProxy: undefined,
    lookup: () => Promise.resolve(['127.0.0.1']),
    clock: systemClock,
  });
  return {
    send(request) {
      if (!DOCUMENT_HOST.test(request.url)) return door.send(request);
      const { host, pathname, search } = new URL(request.url);
      const url = `http://127.0.0.1:${port}${pathname}${search}`;
      return door.send({ ...request, url, headers: { ...request.headers, 'x-site': host } });
    },
    close: () => door.close(),
  };
}

/** A client as a document describes it. Served from then on. */
export function publish(at: OAuthInstallation, document: Record<string, unknown> = {}): string {
  const host = `${randomText(8)}.example.test`;
  const id = `https://${host}/client.json`;
  const body = JSON.stringify({ client_id: id, client_name: 'Notebook', redirect_uris: [REDIRECT], ...document });
  at.sites.set(host, () => ({ body }));
  return id;
}

export interface Pkce {
  verifier: string;
  challenge: string;
}

export function newPkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** The address that a client sends people to. Parameters given as undefined are left out. */
export function authorizationUrl(
  at: OAuthInstallation,
  clientId: string,
  pkce: Pkce,
  changes: Record<string, string | undefined> = {},
): URL {
  const url = new URL(`${at.baseUrl}/oauth/authorize`);
  const parameters: Record<string, string | undefined> = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT,
    code_challenge: pkce.challenge,
    code_challenge_method: 'S256',
    resource: at.resource,
    state: 'a state',
    ...changes,
  };
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  return url;
}

/** Signs in on the page that the browser is on, up to the question whether to allow. */
export async function signIn(at: OAuthInstallation, browser: Browser, email: string): Promise<SeenPage> {
  await browser.submit('/address', { email });
  return browser.submit('/code', { code: codeIn(at.smtp.mailTo(email)) });
}

/** Somebody signs in and allows: where the browser is sent then. */
export async function allow(at: OAuthInstallation, url: URL, email: string): Promise<URL> {
  const browser = new Browser(at.fetch);
  await browser.open(url);
  await signIn(at, browser, email);
  const { leftTo, html } = await browser.submit('/decision', { decision: 'allow' });
  if (!leftTo) throw new Error(`the browser was not sent to the client: ${html}`);
  return leftTo;
}

export interface TokenReply {
  status: number;
  body: Record<string, unknown>;
  headers: Headers;
}

/** Asks for tokens, or revokes one. */
export async function post(
  at: OAuthInstallation,
  path: '/oauth/token' | '/oauth/revoke',
  parameters: Record<string, string | undefined>,
  headers: Record<string, string> = {},
): Promise<TokenReply> {
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const response = await at.fetch(at.baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(given).toString(),
  });
  const text = await response.text();
  return {
    status: response.status,
    body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
    headers: response.headers,
  };
}

export interface Tokens {
  access: string;
  refresh: string;
}

/** All the way to tokens. */
export async function tokensFor(
  at: OAuthInstallation,
  clientId: string,
  email: string,
  changes: Record<string, string | undefined> = {},
): Promise<Tokens> {
  const pkce = newPkce();
  const callback = await allow(at, authorizationUrl(at, clientId, pkce, changes), email);
  const reply = await post(at, '/oauth/token', exchangeOf(clientId, pkce, callback));
  if (reply.status !== 200) throw new Error(`no tokens: ${JSON.stringify(reply.body)}`);
  return { access: String(reply.body.access_token), refresh: String(reply.body.refresh_token) };
}

/** What a client sends for the code that it got. */
export function exchangeOf(clientId: string, pkce: Pkce, callback: URL): Record<string, string> {
  return {
    grant_type: 'authorization_code',
    client_id: clientId,
    code: callback.searchParams.get('code') ?? '',
    redirect_uri: REDIRECT,
    code_verifier: pkce.verifier,
  };
}

/** A request to the tool server: for the list of tools, or a call of one that is free. */
export async function askMcp(
  at: OAuthInstallation,
  token: string | undefined,
  method: 'tools/list' | 'tools/call' = 'tools/list',
): Promise<Response> {
  const params = method === 'tools/call' ? { name: 'list_monitors', arguments: {} } : {};
  return at.fetch(at.resource, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
}

export function newEmail(): string {
  return `${randomText(10)}@example.com`;
}
