import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { fault } from './faults.ts';

export interface Credential {
  user: string;
  password: string;
}

/** Names of this machine's loopback, any port: a forwarded one differs. */
const LOOPBACK = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i;

/**
 * Pages of a browser have no business here: neither those that say so (Origin, Sec-Fetch-Site), by any method, nor
 * those whose host's name was made to lead to this machine (Host).
 *
 * @throws Error 516
 */
export function refusePages({ headers }: IncomingMessage): void {
  const { host = '', origin } = headers;
  const site = headers['sec-fetch-site'];
  const isPage = origin !== undefined || (site !== undefined && site !== 'none');
  if (isPage) throw fault(516, 'Requests of web pages are refused.', 'AUTHENTICATION_FAILED');
  if (!LOOPBACK.test(host)) throw fault(516, 'The Host header must name this machine.', 'AUTHENTICATION_FAILED');
}

/**
 * The caller names the credential in one of ClickHouse's three ways: HTTP Basic, the headers X-ClickHouse-User and
 * -Key, or user and password in the URL.
 *
 * @returns false when none is given
 * @throws Error 516 when it is not the right one, or given in several ways
 */
export function checkCredential(request: IncomingMessage, search: URLSearchParams, right: Credential): boolean {
  const given = [ofBasic(request), ofHeaders(request), ofUrl(search)].filter((one) => one !== undefined);
  const [credential, another] = given;
  if (credential === undefined) return false;
  const isRight = isEqual(credential.user, right.user) && isEqual(credential.password, right.password);
  if (another !== undefined || !isRight) {
    throw fault(
      516,
      'Authentication failed: password is incorrect, or there is no such user.',
      'AUTHENTICATION_FAILED',
    );
  }
  return true;
}

function ofBasic({ headers }: IncomingMessage): Credential | undefined {
  const { authorization } = headers;
  if (authorization === undefined) return undefined;
  const encoded = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(authorization)?.[1] ?? '';
  const [user = '', password = ''] = Buffer.from(encoded, 'base64').toString('utf8').split(/:(.*)/s);
  return { user, password };
}

function ofHeaders({ headers }: IncomingMessage): Credential | undefined {
  const user = headers['x-clickhouse-user'];
  const password = headers['x-clickhouse-key'];
  if (user === undefined && password === undefined) return undefined;
  return { user: String(user ?? ''), password: String(password ?? '') };
}

function ofUrl(search: URLSearchParams): Credential | undefined {
  if (!search.has('user') && !search.has('password')) return undefined;
  return { user: search.get('user') ?? '', password: search.get('password') ?? '' };
}

/** Takes the same time wherever they differ. */
function isEqual(given: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(right));
}
