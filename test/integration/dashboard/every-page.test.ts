import { afterAll, beforeAll, expect, test } from 'vitest';
import { allPages } from '../../../services/api/dashboard/dashboard.ts';
import type { DashboardDeps } from '../../../services/api/dashboard/dashboard-deps.ts';
import { MonitorPagesBench } from '../../support/dashboard/monitor-pages-bench.ts';

let bench: MonitorPagesBench;
beforeAll(async () => {
  bench = await MonitorPagesBench.create();
  await bench.reset();
});
afterAll(() => bench.drop());

/** Only listed here, never called. */
const ROUTES = allPages({ secretKey: 'not used' } as DashboardDeps).map(({ method, path }) => ({
  method,
  path: path.replace('/*rest', '/anything').replace(/:\w+/g, 'mon_0123456789ab').replace(/^\/$/, ''),
}));

test('there are pages and actions', () => {
  expect(ROUTES.filter(({ method }) => method === 'get').length).toBeGreaterThanOrEqual(10);
  expect(ROUTES.filter(({ method }) => method === 'post').length).toBeGreaterThanOrEqual(10);
});

test.each(ROUTES)('$method $path needs a session', async ({ method, path }) => {
  for (const cookie of ['', `dashboard_session=${'0'.repeat(32)}`, "dashboard_session=' OR true --"]) {
    const answer = await fetch(`${bench.api.url}/dashboard${path}`, {
      method: method.toUpperCase(),
      headers: { cookie },
      redirect: 'manual',
      ...(method === 'post' ? { body: new URLSearchParams({ name: 'x' }) } : {}),
    });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toMatch(/^\/dashboard\/sign-in(\?next=|$)/);
    expect(await answer.text()).not.toContain('<h1>');
  }
});

test.each(ROUTES.filter(({ method }) => method === 'post'))(
  '$path refuses the forms of other sites',
  async ({ path }) => {
    const headers = { cookie: bench.person.cookie };
    const url = `${bench.api.url}/dashboard${path}`;
    const without = await fetch(url, { method: 'POST', headers, body: new URLSearchParams({ name: 'x' }) });
    expect([without.status, await without.text()]).toEqual([400, expect.stringContaining('Nothing was changed.')]);
    const foreign = await bench.person.post(path, {}, { origin: 'https://evil.example' });
    expect([foreign.status, foreign.html]).toEqual([400, expect.stringContaining('Nothing was changed.')]);
  },
);
