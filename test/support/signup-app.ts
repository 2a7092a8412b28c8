import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { errorEnvelope } from '../../schemas/error-envelope.ts';
import { createErrorHandler } from '../../services/api/error-handler.ts';
import { createRequestLog } from '../../services/api/request-log.ts';
import { createSignupRouter } from '../../services/api/signup/signup-router.ts';
import { randomText } from '../../shared/domain/identifiers.ts';
import type { MailDomainCheck } from '../../shared/mail/mail-domain.ts';
import { createMailer } from '../../shared/mail/create-mailer.ts';
import type { SmtpTimeouts } from '../../shared/mail/smtp-mailer.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { createLogger } from '../../shared/runtime/logger.ts';

export const SECRET_KEY = 'a secret key for tests, 32 characters';
export const BASE_URL = 'https://api.example.com';
export const APP_URL = 'https://app.example.com';

export interface SignupReply {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
  /** The error's code; undefined where there is none. */
  code: string | undefined;
  message: string;
}

export interface SignupAppOptions {
  /** undefined: mails go to the outbox. */
  smtpUrl: string | undefined;
  timeouts?: SmtpTimeouts;
  enabled?: boolean;
  perHour?: number;
  /** Default: domains are not looked up. */
  takesMail?: MailDomainCheck;
}

export interface SignupApp {
  url: string;
  /** Folder of mails where there is no mail server. */
  outbox: string;
  /** Everything that was logged, at the finest level. Addresses, tokens, codes and keys must not be in it: stop() looks. */
  log(): string;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<SignupReply>;
  /** From a network of its own, unless told. */
  signUp(email: string, clientAddress?: string): Promise<SignupReply>;
  verify(token: unknown, code: unknown): Promise<SignupReply>;
  stop(): Promise<void>;
}

/** Sign-up alone, on a free port over a test's database, behind a trusted proxy. */
export async function startSignupApp(pool: Pool, options: SignupAppOptions): Promise<SignupApp> {
  let log = '';
  const secrets = new Set<string>();
  const logger = createLogger('trace', { write: (line: string) => void (log += line) });
  const folder = mkdtempSync(join(tmpdir(), 'forum-signup-'));
  const outbox = join(folder, 'outbox');
  const { enabled = true, perHour = 1_000_000, takesMail } = options;
  const mailer = createMailer({ ...options, from: 'Forum <no-reply@app.example.com>', outbox });
  const app = express();
  app.set('trust proxy', true);
  app.use(createRequestLog(logger));
  app.use(
    createSignupRouter({
      pool,
      logger,
      mailer,
      secretKey: SECRET_KEY,
      signup: { enabled, perHour, signInPerHour: perHour, perNetwork: 20 },
      takesMail,
      baseUrl: BASE_URL,
      appUrl: APP_URL,
    }),
  );
  app.use(createErrorHandler(logger));
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const post: SignupApp['post'] = async (path, body, headers = {}) => {
    noteSecrets(secrets, body);
    const reply = await send(url + path, body, headers);
    noteSecrets(secrets, reply.body);
    return reply;
  };
  return {
    url,
    outbox,
    log: () => log,
    post,
    signUp: (email, clientAddress = randomAddress()) =>
      post('/api/agent/signup', { email }, { 'x-forwarded-for': clientAddress }),
    verify: (token, code) => post('/api/agent/verify', { signup_token: token, code }),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true });
      const told = [...secrets].filter((secret) => tells(log, secret));
      if (told.length > 0) throw new Error(`the log tells ${told.join()}`);
    },
  };
}

/** Six digits may be part of a longer number. */
function tells(log: string, secret: string): boolean {
  return /^\d{6}$/.test(secret) ? new RegExp(`\\b${secret}\\b`).test(log) : log.includes(secret);
}

const SECRET_FIELDS = ['email', 'signup_token', 'code', 'api_key'];

/** What a request or an answer holds that no log may hold. */
function noteSecrets(secrets: Set<string>, body: unknown): void {
  if (typeof body !== 'object' || body === null) return;
  for (const [field, value] of Object.entries(body)) {
    if (SECRET_FIELDS.includes(field) && typeof value === 'string' && value.length > 5) secrets.add(value);
  }
}

/** An address whose mailbox nobody else has. */
export function newEmail(domain = 'example.com'): string {
  return `${randomText(12)}@${domain}`;
}

function randomAddress(): string {
  const part = () => Math.floor(Math.random() * 65_536).toString(16);
  return `2001:db8:${part()}:${part()}::1`;
}

/** What must hold of every answer is checked here. */
async function send(url: string, body: unknown, headers: Record<string, string>): Promise<SignupReply> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  const { status } = response;
  if (response.headers.get('cache-control') !== 'no-store') throw new Error(`${status} may be kept by caches`);
  if (!response.headers.has('x-request-id')) throw new Error(`${status} has no request id`);
  if (status < 400) return { status, headers: response.headers, body: answer, code: undefined, message: '' };
  const { error } = errorEnvelope.parse(answer);
  const retryAfter = response.headers.get('retry-after');
  if (retryAfter !== (error.retry_after === undefined ? null : String(error.retry_after))) {
    throw new Error(`Retry-After is ${retryAfter}, retry_after ${error.retry_after}`);
  }
  return { status, headers: response.headers, body: answer, code: error.code, message: error.message };
}
