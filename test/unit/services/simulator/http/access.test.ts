import { expect, test } from 'vitest';
import { Access } from '../../../../../services/simulator/http/access.ts';

const createAccess = () => new Access({ seed: 1, callsPerWindow: 2 });
const BASIC = `Basic ${btoa('a:b')}`;

test('only a client with credentials gets a token, and only a token opens the forum', () => {
  const access = createAccess();
  expect(access.issue(undefined, 'client_credentials', 0).status).toBe(401);
  for (const authorization of ['', 'bearer nonsense', 'bearer e30.e30']) {
    expect(access.admit(authorization, 0).refusal).toMatchObject({ status: 401 });
  }
});

test('reports the quota in every response and refuses calls over it', () => {
  const access = createAccess();
  const issued = access.issue(BASIC, 'client_credentials', 0).body as { access_token: string };
  const bearer = `bearer ${issued.access_token}`;
  expect(access.admit(bearer, 1000).headers).toMatchObject({
    'x-ratelimit-remaining': '1.0',
    'x-ratelimit-reset': '600',
  });
  access.admit(bearer, 2000);
  const over = access.admit(bearer, 301_000);
  expect(over.refusal).toMatchObject({ status: 429, headers: { 'retry-after': '300' } });
  expect(access.admit(bearer, 602_000).refusal).toBeUndefined();
});
