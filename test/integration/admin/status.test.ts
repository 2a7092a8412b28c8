import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { FORUM_COMMENTS, MONITOR_CANDIDATES } from '../../../schemas/messages/topics.ts';
import { runAdmin } from '../../../services/admin/run-admin.ts';
import { runAdminProcess } from '../../support/children/admin-process.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';
import { commentItem } from '../../support/samples/forum-items.ts';

interface Row {
  part: string;
  status: string;
  waiting: number | null;
  note: string;
}

let pipeline: Pipeline;
let env: Record<string, string>;
beforeAll(async () => {
  pipeline = await Pipeline.create();
  env = {
    KAFKA_BROKERS: inject('kafkaBrokers'),
    KAFKA_TOPIC_PREFIX: pipeline.kafka.prefix,
    DATABASE_URL: pipeline.db.url,
    CLICKHOUSE_URL: pipeline.clickhouseUrl,
  };
});
afterAll(() => pipeline.drop());

async function page(more: Record<string, string> = {}): Promise<Map<string, Row>> {
  const { code, out, err } = await runAdminProcess(['status', '--json'], { ...env, ...more });
  expect([code, err]).toEqual([0, '']);
  const rows = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
  return new Map(rows.map((row) => [row.part, row]));
}

test('the page has what was published, who reads it, and what is open', async () => {
  await pipeline.start('archiver');
  const { publisher } = pipeline.kafka;
  const item = { ...commentItem(1, 'rust'), first_seen_at: new Date().toISOString() };
  await publisher.publish(FORUM_COMMENTS.name, [{ key: item.thing_id, value: JSON.stringify(item) }]);
  await publisher.publish(`${MONITOR_CANDIDATES.name}.dead-letter`, [{ key: 'mon_a', value: 'x' }]);
  await pipeline.db.pool.query(
    `INSERT INTO crawl_gaps (source, reason, opened_at) VALUES ('listings', 'test', now()), ('post-ids', 'test', now())`,
  );
  await eventually('the item is archived', async () => (await page()).get('items')!.status === 'ok', 60_000);
  const rows = await page();
  for (const server of ['postgres', 'kafka', 'clickhouse']) expect(rows.get(server)!.status).toBe('ok');
  expect(rows.get('items-archiver')).toMatchObject({ status: 'ok', waiting: 0, note: 'records before it' });
  expect(rows.get('matcher')).toMatchObject({
    status: 'look',
    waiting: 1,
    note: 'records before it; no process reads them',
  });
  expect(rows.get('dead letters')).toMatchObject({ status: 'look', waiting: 1, note: 'monitor.candidates: 1' });
  expect(rows.get('gaps')).toMatchObject({ status: 'look', waiting: 2, note: 'listings: 1, post-ids: 1' });
  expect(rows.get('deliveries')).toMatchObject({ status: 'ok', waiting: 0 });

  const shown: string[] = [];
  const terminal = { isTerminal: true, out: (line: string) => shown.push(line), err: () => undefined };
  expect(await runAdmin(['status'], env, terminal)).toBe(0);
  expect(shown.join('\n')).toMatch(/^part +status +waiting +age_seconds +note\npostgres +ok/);
});

test('each server may be unavailable: the page says so, and the rest is as it is', async () => {
  const nowhere = '127.0.0.1:1';
  const [kafka, postgres, clickhouse] = await Promise.all([
    page({ KAFKA_BROKERS: nowhere }),
    page({ DATABASE_URL: `postgres://u:hunter2@${nowhere}/x` }),
    page({ CLICKHOUSE_URL: `http://u:hunter2@${nowhere}/` }),
  ]);
  expect(kafka.get('kafka')!.status).toBe('away');
  expect([kafka.get('flow')!.status, kafka.get('gaps')!.status]).toEqual(['unknown', 'look']);
  expect(postgres.get('postgres')!.status).toBe('away');
  expect([postgres.get('gaps')!.status, postgres.get('dead letters')!.status]).toEqual(['unknown', 'look']);
  expect(clickhouse.get('clickhouse')!.status).toBe('away');
  expect([clickhouse.get('items')!.status, clickhouse.get('gaps')!.status]).toEqual(['unknown', 'look']);
  for (const rows of [kafka, postgres, clickhouse]) expect(JSON.stringify([...rows])).not.toContain('hunter2');
});
