import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isForThisServer } from '../../../../shared/http/host-header.ts';
import { fault } from './statement.ts';

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
