import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { HOSTILE, isEscaped, MonitorPagesBench } from '../../support/dashboard/monitor-pages-bench.ts';

let bench: MonitorPagesBench;
let id: string;
beforeAll(async () => {
  bench = await MonitorPagesBench.create();
});
beforeEach(async () => {
  await bench.reset();
  id = await bench.monitor({ name: HOSTILE });
  await bench.record(id, { body: 'Iron, and rust' });
});
afterAll(() => bench.drop());

const page = () => bench.person.get(`/monitors/${id}/export`);
const addressIn = (text: string, format: string) =>
  new RegExp(`/feeds/feed_[0-9a-z]{32}\\.${format}`).exec(text)?.[0] ?? 'no address';

test.each(['csv', 'ndjson', 'parquet'])('all matches are downloaded as %s', async (format) => {
  const shown = await page();
  expect([shown.status, isEscaped(shown)]).toEqual([200, true]);
  expect(shown.html).toContain(`href="/dashboard/monitors/${id}/export/${format}" download`);
  const url = `${bench.api.url}/dashboard/monitors/${id}/export/${format}`;
  const file = await fetch(url, { headers: { cookie: bench.person.cookie } });
  expect(file.headers.get('content-disposition')).toBe(`attachment; filename="matches-${id}.${format}"`);
  const text = await file.text();
  if (format === 'parquet') expect([text.slice(0, 4), text.slice(-4)]).toEqual(['PAR1', 'PAR1']);
  else expect(text).toContain('Iron, and rust');
});

test('an unknown format is refused, and the limit is that of the API', async () => {
  expect((await bench.person.get(`/monitors/${id}/export/xlsx`)).status).toBe(400);
  for (let times = 0; times < 10; times++) {
    expect((await bench.person.get(`/monitors/${id}/export/csv`)).status).toBe(200);
  }
  expect((await bench.person.get(`/monitors/${id}/export/csv`)).status).toBe(429);
});

test('a feed is made, shown once, replaced and revoked', async () => {
  expect((await page()).html).toContain('Make a feed');
  const made = await bench.person.post(`/monitors/${id}/feed`);
  const first = addressIn(made.html, 'atom');
  expect((await fetch(bench.api.url + first)).status).toBe(200);
  expect((await fetch(bench.api.url + addressIn(made.html, 'json'))).status).toBe(200);
  const later = await page();
  expect([later.html.includes('feed_'), later.html.includes('Make new addresses')]).toEqual([false, true]);
  const second = addressIn((await bench.person.post(`/monitors/${id}/feed`)).html, 'atom');
  const statuses = async () =>
    Promise.all([first, second].map(async (path) => (await fetch(bench.api.url + path)).status));
  expect(await statuses()).toEqual([404, 200]);
  const revoked = await bench.person.post(`/monitors/${id}/feed/revoke`);
  expect(revoked.location).toBe(`/dashboard/monitors/${id}/export?done=revoked`);
  expect(await statuses()).toEqual([404, 404]);
  expect((await bench.person.get(`/monitors/${id}/export?done=revoked`)).html).toContain(
    'Its addresses no longer work.',
  );
});
