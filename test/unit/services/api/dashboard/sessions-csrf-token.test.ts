import type { Request } from 'express';
import { describe, expect, test } from 'vitest';
import { CSRF_FIELD, csrfTokenOf, hasCsrfToken } from '../../../../../services/api/dashboard/sessions.ts';

const COOKIE = '0123456789abcdefghjkmnpqrstvwxyz';
const token = csrfTokenOf(COOKIE);
const publicHost = 'app.example.com';

function formWith(headers: Record<string, string>, body: unknown = { [CSRF_FIELD]: token }): Request {
  const get = (name: string) => headers[name.toLowerCase()];
  return { get, host: headers.host ?? 'localhost:8080', body } as unknown as Request;
}

test('a token belongs to its cookie, and does not reveal it', () => {
  expect(token).not.toContain(COOKIE);
  expect(csrfTokenOf(`${COOKIE.slice(0, -1)}0`)).not.toBe(token);
});

describe('is our own', () => {
  test.each<[string, Record<string, string>]>([
    ['without any word of its origin', {}],
    ['from the same origin', { 'sec-fetch-site': 'same-origin', origin: 'http://localhost:8080' }],
    ['sent again by the person', { 'sec-fetch-site': 'none' }],
    ['from another name of this host', { origin: 'http://127.0.0.1:8080', host: '127.0.0.1:8080' }],
    ['behind a proxy that replaces the host', { origin: 'https://app.example.com', host: 'internal:8080' }],
    ['over https, with the default port left out', { origin: 'https://app.example.com', host: 'app.example.com' }],
  ])('%s', (_what, headers) => expect(hasCsrfToken(formWith(headers), { cookie: COOKIE, publicHost })).toBe(true));
});

describe('is not our own', () => {
  test.each<[string, Record<string, string>]>([
    ['from another site', { 'sec-fetch-site': 'cross-site' }],
    ['from a sister site', { 'sec-fetch-site': 'same-site' }],
    ['from another origin', { origin: 'https://evil.example' }],
    ['from another port', { origin: 'http://localhost:9999' }],
    ['from nowhere', { origin: 'null' }],
    ['from a name that begins like ours', { origin: 'https://app.example.com.evil.example' }],
  ])('%s', (_what, headers) => expect(hasCsrfToken(formWith(headers), { cookie: COOKIE, publicHost })).toBe(false));

  test.each<[string, unknown]>([
    ['without a token', {}],
    ['with a list', { [CSRF_FIELD]: [token] }],
    ['with a part', { [CSRF_FIELD]: token.slice(1) }],
  ])('%s', (_what, body) =>
    expect(hasCsrfToken(formWith({}, body ?? null), { cookie: COOKIE, publicHost })).toBe(false),
  );
});
