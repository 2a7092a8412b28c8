import { createSecretBox } from '../../shared/domain/secret-box.ts';
import type { SecretBox } from '../../shared/domain/secret-box.ts';
import { SUPPRESSED_PER_DAY } from '../../shared/domain/match-numbering.ts';
import { randomText } from '../../shared/domain/identifiers.ts';
import { allPlans } from '../../shared/domain/plans.ts';
import type { Pack } from '../../shared/domain/plans.ts';
import { createClickhouse } from '../../shared/clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import { inTransaction } from '../../shared/postgres/pool.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Mailer } from '../../shared/mail/mailer.ts';
import { createMetrics } from '../../shared/runtime/metrics.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { openAccount } from '../../shared/stores/open-account.ts';
import { startApi } from '../../services/api/start-api.ts';
import type { ApiOptions } from '../../services/api/start-api.ts';
import { createOutboundDoor } from '../../shared/http/outbound-door.ts';
import type { OutboundDoor } from '../../shared/http/outbound-door.ts';
import type { LimitsByPack } from '../../services/api/request-gate.ts';
import type { ForumReading } from '../../services/api/reading/reading-routes.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { createUpstream } from '../../shared/upstream/upstream-client.ts';
import { buildOpenApiDocument } from '../../services/api/openapi/build-openapi.ts';
import { checkResponse } from './openapi-checker.ts';
import { silentLogger } from './silent-logger.ts';

/** Body of any answer; a test names the members it expects. */
export type Body = Record<string, unknown>;

export interface Reply {
  status: number;
  headers: Headers;
  /** Empty where the answer is no JSON. */
  body: Body;
  text: string;
}

export interface TestAccount {
  accountId: string;
  apiKey: string;
}

export interface TestApi {
  url: string;
  secretBox: SecretBox;
  metrics: Metrics;
  /**
   * The body is sent as JSON, or as it is when it is a string.
   *
   * @throws UndocumentedError when the answer is not as the API's description says
   */
  call(
    key: string | undefined,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Reply>;
  /** A fresh account; 1,000 credits and the largest pack unless told. */
  account(given?: { credits?: number; pack?: Pack }): Promise<TestAccount>;
  /** A monitor of the account, created through the API. */
  monitor(key: string, body?: object): Promise<Body & { id: string }>;
  stop(): Promise<void>;
}

export interface TestApiOptions {
  /** Default: a free one. */
  port?: number;
  logger?: Logger;
  /** Default: webhooks must be public, and every name resolves to a public address. */
  allowPrivate?: boolean;
  lookup?: (hostname: string) => Promise<string[]>;
  ready?: () => Promise<{ ready: boolean; parts: Record<string, boolean> }>;
  /** Default: a forum that cannot be reached. */
  forum?: ForumReading;
  /** Default: an archive that cannot be reached. */
  clickhouse?: ClickHouseClient;
  /** Its public address; default: one that leads nowhere. */
  baseUrl?: string;
  /** Default: one that follows `allowPrivate` and `lookup`; it is closed with the API. */
  door?: OutboundDoor;
  /** Default: sign-up is off. */
  mailer?: Mailer;
  /** Default: so many requests that no test meets a limit; `plans`: what the plans say. */
  limits?: LimitsByPack | 'plans';
  /** Default: live tails poll, at the usual times. */
  liveTail?: NonNullable<ApiOptions['liveTail']>;
}

const UNLIMITED = new Map(
  [...allPlans().keys()].map((pack) => [pack, { requestsPerSecond: 1_000, burst: 100_000, requestsPerDay: null }]),
);

const SECRET_KEY = 'a secret key for tests, 32 characters';
const TEST_BASE_URL = 'http://localhost';
const DESCRIPTION = buildOpenApiDocument(TEST_BASE_URL);

/** The API on a free port over a test's database. */
export async function startTestApi(pool: Pool, options: TestApiOptions = {}): Promise<TestApi> {
  const secretBox = createSecretBox(SECRET_KEY);
  const metrics = createMetrics();
  const allowPrivate = options.allowPrivate ?? false;
  const lookup = options.lookup ?? (() => Promise.resolve(['93.184.216.34']));
  const door = options.door ?? createOutboundDoor({ allowPrivate, egressProxy: undefined, lookup, clock: systemClock });
  const baseUrl = options.baseUrl ?? TEST_BASE_URL;
  const running = await startApi({
    http: {
      port: options.port ?? 0,
      host: '127.0.0.1',
      trustProxy: undefined,
      baseUrl,
      appUrl: baseUrl,
      maxConnections: 5_000,
    },
    signup: { enabled: options.mailer !== undefined, perHour: 500, signInPerHour: 500, perNetwork: 20 },
    mailer: options.mailer ?? { send: () => Promise.reject(new Error('this test mails nothing')) },
    takesMail: undefined,
    pool,
    metrics,
    logger: options.logger ?? silentLogger(),
    secretBox,
    webhooks: { allowPrivate, lookup },
    suppressedPerDay: SUPPRESSED_PER_DAY,
    door,
    ready: options.ready ?? (() => Promise.resolve({ ready: true, parts: {} })),
    forum: options.forum ?? unreachableForum(metrics),
    ...(options.limits === 'plans' ? {} : { limits: options.limits ?? UNLIMITED }),
    secretKey: SECRET_KEY,
    clickhouse: options.clickhouse ?? createClickhouse('http://127.0.0.1:9', 'test'),
    ...(options.liveTail === undefined ? {} : { liveTail: options.liveTail }),
  });
  const url = `http://127.0.0.1:${running.port}`;
  const call = caller(url);
  return {
    url,
    secretBox,
    metrics,
    call,
    account: (given = {}) => newAccount(pool, given),
    async monitor(key, body = {}) {
      const reply = await call(key, 'POST', '/v1/monitors', { name: 'a monitor', keywords: ['rust'], ...body });
      if (reply.status !== 201) throw new Error(`no monitor was created: ${JSON.stringify(reply.body)}`);
      return reply.body.monitor as Body & { id: string };
    },
    async stop() {
      await running.stop();
      await door.close();
    },
  };
}

function unreachableForum(metrics: Metrics): ForumReading {
  const url = 'http://127.0.0.1:9';
  const upstream = createUpstream({
    url,
    tokenUrl: url,
    userAgent: 'test:api:1 (by /u/test)',
    clients: [{ id: 'id', secret: 'secret' }],
    clock: systemClock,
    metrics,
    logger: silentLogger(),
  });
  return { upstream, siteUrl: 'https://www.example.com', clock: systemClock, disk: undefined };
}

function caller(url: string): TestApi['call'] {
  return async (key, method, path, body, headers = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await textOf(response);
    checkResponse(DESCRIPTION, method, path, response.status, response.headers, text);
    return { status: response.status, headers: response.headers, body: parsedBody(response, text), text };
  };
}

async function newAccount(pool: Pool, given: { credits?: number; pack?: Pack }): Promise<TestAccount> {
  const email = `${randomText(12)}@example.com`;
  const { credits = 1_000, pack = 79 } = given;
  const opened = await inTransaction(pool, (client) => openAccount(client, { email, credits, pack, keyName: 'test' }));
  if (!opened) throw new Error(`the mailbox of ${email} was taken`);
  return opened;
}

/** Of a stream what comes first; it is closed then. */
async function textOf(response: Response): Promise<string> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) return response.text();
  const reader = response.body?.getReader();
  const first = (await reader?.read()) as { value?: Uint8Array } | undefined;
  await reader?.cancel();
  return new TextDecoder().decode(first?.value);
}

function parsedBody({ headers }: Response, text: string): Body {
  if (text === '' || headers.get('content-type')?.startsWith('text/') === true) return {};
  try {
    return JSON.parse(text) as Body;
  } catch {
    throw new Error(`the answer is not JSON: ${text}`);
  }
}
