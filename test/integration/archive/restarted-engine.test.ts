import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { itemRow } from '../../../shared/stores/archive/archive-rows.ts';
import { startEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { migrateClickhouse } from '../../../shared/clickhouse/migrate-clickhouse.ts';
import { readArchivedCandidates } from '../../../shared/stores/archive/archived-candidates.ts';
import type { CandidatePage } from '../../../shared/stores/archive/archived-candidates.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import { forumItemOf } from '../../support/samples/forum-items.ts';

const rule = {
  keywords: ['new york', '手机', 'C++'],
  exclude: [],
  subreddits: [],
  posts: true,
  comments: true,
  nsfw: false,
};

function candidates(url: string): Promise<CandidatePage> {
  const clickhouse = createClickhouse(url, 'test');
  const [from, to] = [new Date(Date.now() - 3_600_000), new Date(Date.now() + 3_600_000)];
  const signal = AbortSignal.timeout(20_000);
  return readArchivedCandidates(clickhouse, { rule, from, to, order: 'newest', limit: 100, signal }).finally(() =>
    clickhouse.close(),
  );
}

test('the archive finds the same candidates after the engine was killed and started on the same directory', async () => {
  const db = await createTestDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'forum-archive-'));
  const engines = await startEngines({ dataDir, env: process.env, engines: ['clickhouse'] });
  try {
    const url = engines.urls.clickhouse;
    const clickhouse = createClickhouse(url, 'test');
    await migrateClickhouse(clickhouse, db.pool, silentLogger());
    const bodies = ['In New-York', '我的手机很好', 'C++17 it is', 'new, york', 'nothing'];
    const values = bodies.map((body, number) => itemRow(forumItemOf(`t1_${number}`, { body }), false));
    await clickhouse.insert({ table: 'items', values, format: 'JSONEachRow' });
    await clickhouse.close();
    const { items } = await candidates(url);
    expect(items.map(({ content }) => content.thing_id)).toEqual(['t1_3', 't1_2', 't1_1', 't1_0']);
    process.kill(engines.process('clickhouse').pid, 'SIGKILL');
    await engines.process('clickhouse').exited;
    await engines.restart('clickhouse');
    expect((await candidates(url)).items).toEqual(items);
  } finally {
    await engines.stop();
    rmSync(dataDir, { recursive: true, force: true });
    await db.drop();
  }
});
