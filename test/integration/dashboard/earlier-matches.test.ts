import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { HOSTILE, isEscaped, MonitorPagesBench } from '../../support/dashboard/monitor-pages-bench.ts';

let bench: MonitorPagesBench;
beforeAll(async () => {
  bench = await MonitorPagesBench.create();
});
afterAll(() => bench.drop());
beforeEach(() => bench.reset());

const HOUR = 3_600_000;

async function runsOf(id: string): Promise<{ hours: number; deliver: boolean; max_credits: number | null }[]> {
  const { rows } = await bench.db.pool.query<{ hours: number; deliver: boolean; max_credits: number | null }>(
    `SELECT round(extract(epoch FROM to_at - from_at) / 3600)::int AS hours, deliver, max_credits FROM backfills
     WHERE monitor_id = $1`,
    [id],
  );
  return rows;
}

test('earlier matches are asked for with their price beside the button, and their progress is shown', async () => {
  const id = await bench.monitor({ name: HOSTILE, keywords: ['rust'] });
  const page = await bench.person.get(`/monitors/${id}/earlier`);
  expect(isEscaped(page)).toBe(true);
  expect(page.html).toContain('Costs 1 credit for each started 100');
  const asked = await bench.person.post(`/monitors/${id}/earlier`, { hours: '168', max_credits: '7' });
  expect(asked.location).toBe(`/dashboard/monitors/${id}/earlier?done=started`);
  expect(await runsOf(id)).toEqual([{ hours: 168, deliver: false, max_credits: 7 }]);
  await bench.db.pool.query(
    `UPDATE backfills SET matches = 1234, already_known = 56, credits = 13, scanned_at = from_at + (to_at - from_at) * 0.255`,
  );
  const running = await bench.person.get(`/monitors/${id}/earlier?done=started`);
  expect(running.html).toContain('It waits for its turn.');
  expect(running.html).toContain('<progress max="100" value="25">');
  expect(running.html).toMatch(/<td>1,234<\/td>\s*<td>56<\/td>\s*<td>13<\/td>/);
  expect(running.html).not.toContain(`action="/dashboard/monitors/${id}/earlier"`);
  const again = await bench.person.post(`/monitors/${id}/earlier`, { hours: '24' });
  expect(again.status).toBe(400);
  expect(await runsOf(id)).toHaveLength(1);
  await bench.db.pool.query(`UPDATE backfills SET state = 'stopped_credits', ended_at = service_now()`);
  const ended = await bench.person.get(`/monitors/${id}/earlier`);
  expect(ended.html).toContain('stopped at the credits that it may cost');
  expect(ended.html).toContain('Find earlier matches');
});

test('a run is cancelled by a button, which is gone then', async () => {
  const id = await bench.monitor({ keywords: ['rust'] });
  await bench.person.post(`/monitors/${id}/earlier`, { hours: '24' });
  const running = await bench.person.get(`/monitors/${id}/earlier`);
  const [, run] = /name="run" value="(bf_\w+)"/.exec(running.html)!;
  const cancelled = await bench.person.post(`/monitors/${id}/earlier/cancel`, { run: run! });
  expect(cancelled.location).toBe(`/dashboard/monitors/${id}/earlier?done=cancelled`);
  const page = await bench.person.get(`/monitors/${id}/earlier?done=cancelled`);
  expect(page.html).toContain('It is cancelled: nothing more is recorded or charged.');
  expect(page.html).toContain('being cancelled');
  expect(page.html).not.toContain('Cancel it');
  expect((await bench.person.post(`/monitors/${id}/earlier/cancel`, { run: 'bf_0' })).status).toBe(404);
});

test('a wrong form stores nothing, and says why', async () => {
  const id = await bench.monitor({ keywords: ['rust'] });
  for (const most of ['0', 'many', '1.5']) {
    const refused = await bench.person.post(`/monitors/${id}/earlier`, { hours: '24', max_credits: most });
    expect([refused.status, isEscaped(refused)]).toEqual([400, true]);
    expect(refused.html).toContain('id="max_credits-problem"');
  }
  expect(await runsOf(id)).toEqual([]);
  expect((await bench.person.get('/monitors/mon_000000000000/earlier')).status).toBe(404);
});

test('a new monitor finds earlier matches when its form says so', async () => {
  const form = { name: 'new', keywords: 'rust', posts: 'on', comments: 'on' };
  const page = await bench.person.get('/monitors/new');
  expect(page.html).toContain('name="backfill_hours"');
  await bench.person.post('/monitors/new', { ...form, backfill_hours: '720' });
  const { rows } = await bench.db.pool.query<{ id: string }>(`SELECT id FROM monitors WHERE name = 'new'`);
  expect(await runsOf(rows[0]!.id)).toEqual([{ hours: 720, deliver: false, max_credits: null }]);
  await bench.person.post('/monitors/new', { ...form, name: 'plain', backfill_hours: '' });
  const plain = await bench.db.pool.query<{ id: string }>(`SELECT id FROM monitors WHERE name = 'plain'`);
  expect(await runsOf(plain.rows[0]!.id)).toEqual([]);
  expect((await bench.person.get(`/monitors/${rows[0]!.id}/edit`)).html).not.toContain('name="backfill_hours"');
});

test('an entry says that it was found afterwards, and not that there is no webhook', async () => {
  const id = await bench.monitor({ keywords: ['rust'], webhook_url: 'https://example.com/hook' });
  await bench.record(id, {});
  await bench.db.pool.query(
    `UPDATE matches SET backfill = true, delivery_status = 'none', first_delivery = 'none', entered_at = entered_at - $1 * interval '1 millisecond'`,
    [5 * HOUR],
  );
  const page = await bench.person.get(`/monitors/${id}`);
  expect(page.html).toContain('found afterwards');
  expect(page.html).toContain('not sent');
  expect(page.html).not.toContain('no webhook');
});
