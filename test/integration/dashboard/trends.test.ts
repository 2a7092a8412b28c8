import { afterAll, beforeAll, expect, test } from 'vitest';
import { HOSTILE, isEscaped, MonitorPagesBench } from '../../support/dashboard/monitor-pages-bench.ts';
import { ageMonitor, archiveMatches } from '../../support/fixtures/archived-matches.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const HOUR = 3_600_000;
const AT = Math.floor(Date.now() / HOUR) * HOUR - 2 * HOUR;

let lock: TestDatabase;
let archive: TestArchive;
let bench: MonitorPagesBench;

beforeAll(async () => {
  lock = await createTestDatabase();
  archive = await createTestArchive(lock.pool);
  bench = await MonitorPagesBench.create({ clickhouse: archive.client });
  await bench.reset();
});

afterAll(async () => {
  await bench.drop();
  await archive.drop();
  await lock.drop();
});

test('the page shows counts, spikes, communities and how fast matches arrive', async () => {
  const id = await bench.monitor({ name: HOSTILE, keywords: ['rust'] });
  await ageMonitor(bench.db.pool, id, 40);
  await archiveMatches(archive.client, [
    { monitorId: id, seq: 1, count: 1_250, seenAt: AT, lagMs: 2_400, subreddit: 'metals' },
    { monitorId: id, seq: 2_000, count: 3, seenAt: AT - HOUR, lagMs: 2_400, subreddit: 'cars' },
  ]);
  const page = await bench.person.get(`/monitors/${id}/trends?interval=hour`);
  expect(page.status).toBe(200);
  expect(isEscaped(page)).toBe(true);
  const hour = new Date(AT).toISOString().slice(0, 13).replace('T', ' ');
  expect(page.html).toContain(`${hour}:00: 0 matches, 1250 in hours with a spike`);
  expect(page.html).toMatch(/r\/metals<\/th>\s*<td class="number">1,250<\/td>/);
  expect(page.html.indexOf('r/metals')).toBeLessThan(page.html.indexOf('r/cars'));
  expect(page.html).toContain('2.4 s, 2.4 s');
  const days = await bench.person.get(`/monitors/${id}/trends`);
  expect(days.html).toContain('by day');
  expect(days.html).toContain('aria-current="page"');
});

test('a new monitor has an empty page, and another account’s none', async () => {
  const page = await bench.person.get(`/monitors/${await bench.monitor({ keywords: ['rust'] })}/trends`);
  expect(page.status).toBe(200);
  expect(page.html).toContain('No spikes');
  const stranger = await bench.api.account();
  const foreign = await bench.api.monitor(stranger.apiKey, {});
  expect((await bench.person.get(`/monitors/${foreign.id}/trends`)).status).toBe(404);
});
