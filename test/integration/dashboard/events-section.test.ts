import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeDigests } from '../../../services/biller/digests/make-digests.ts';
import { insertMonitorEvent } from '../../../shared/stores/events/monitor-events.ts';
import { HOSTILE, isEscaped, MonitorPagesBench } from '../../support/dashboard/monitor-pages-bench.ts';
import { recordMatches } from '../../support/fixtures/deliveries/digest-rounds.ts';
import { DASHBOARD_URL } from '../../support/fixtures/notices/notice-rounds.ts';

let bench: MonitorPagesBench;
beforeAll(async () => {
  bench = await MonitorPagesBench.create();
});
beforeEach(() => bench.reset());
afterAll(() => bench.drop());

const SPIKE = { at: '2026-03-04T13:00:00.000Z', interval: 'hour', count: 1_057, expected: 4, score: 11.2 };
const deliveries = (id: string, query = '') => bench.person.get(`/monitors/${id}/deliveries${query}`);
const sent = (options: object) => bench.monitor({ webhook_url: bench.receiver.url, ...options });

async function addSpike(monitorId: string, key: string): Promise<void> {
  await insertMonitorEvent(bench.db.pool, { monitorId, kind: 'monitor.spike', key, payload: { ...SPIKE, at: key } });
}

test('a monitor that sends each match by itself has no section; one with spikes says that none was sent', async () => {
  expect((await deliveries(await sent({}))).html).not.toContain('Digests and spikes');
  expect((await deliveries(await bench.monitor({ digest: 'daily' }))).html).not.toContain('Digests and spikes');
  for (const options of [{ spike_webhook: true }, { digest: 'daily' }]) {
    expect((await deliveries(await sent(options))).html).toContain('None was sent yet.');
  }
});

test('shows spikes and digests with their delivery, and leads to the last match of a digest', async () => {
  const id = await sent({ digest: 'hourly', spike_webhook: true, name: HOSTILE });
  await addSpike(id, SPIKE.at);
  await recordMatches(bench.db.pool, id, 2);
  await bench.db.pool.query('UPDATE monitor_digests SET due_at = service_now() WHERE monitor_id = $1', [id]);
  await makeDigests({ pool: bench.db.pool, dashboardUrl: DASHBOARD_URL }, bench.owner.accountId);
  await bench.db.pool.query(
    `UPDATE monitor_events SET delivery_status = 'failed', attempt = 6, last_status = 500, last_error = 'http_status',
       next_attempt_at = NULL WHERE monitor_id = $1 AND kind = 'monitor.spike'`,
    [id],
  );
  const page = await deliveries(id);
  expect(isEscaped(page)).toBe(true);
  const words = page.html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
  expect(words).toMatch(/Digest \(hourly\) of 2 matches, the last one: no\. 2 waits to be sent, /);
  expect(words).toMatch(/Spike: 1,057 matches in the hour of [^,]+, usually 4 failed for good 6 It answered 500/);
  expect(words.indexOf('Digest (hourly)')).toBeLessThan(words.indexOf('Spike: 1,057'));
  const [link] = /\/monitors\/mon_\w+\/matches\/mat_\w+/.exec(page.html)!;
  expect((await bench.person.get(link)).status).toBe(200);
});

test('older ones are on further pages; an unknown cursor is refused', async () => {
  const id = await sent({ spike_webhook: true });
  const hours = Array.from({ length: 12 }, (_, hour) => `2026-03-04T${String(hour).padStart(2, '0')}:00:00.000Z`);
  for (const hour of hours) await addSpike(id, hour);
  const hoursOf = (html: string) => [...html.matchAll(/datetime="(2026-03-04T[^"]+)"/g)].map(([, at]) => at);
  const first = await deliveries(id);
  expect(hoursOf(first.html)).toEqual(hours.toReversed().slice(0, 10));
  const [, query] = /deliveries(\?events_after=\w+)#events/.exec(first.html)!;
  const second = await deliveries(id, query);
  expect(hoursOf(second.html)).toEqual(['2026-03-04T01:00:00.000Z', '2026-03-04T00:00:00.000Z']);
  expect(second.html).not.toContain('Older digests');
  expect((await deliveries(id, '?events_after=evt_0')).html).toContain('must be the `after` of a page');
});
