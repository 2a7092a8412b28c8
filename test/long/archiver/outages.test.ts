import { afterEach, beforeEach, expect, test } from 'vitest';
import { FORUM_REMOVALS } from '../../../schemas/messages/topics.ts';
import * as groups from '../../../schemas/messages/topics.ts';
import { startArchiver } from '../../../services/archiver/start-archiver.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { consumerLag } from '../../../shared/kafka/topic-admin.ts';
import { storeItems } from '../../../shared/matches/recording.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { forumItemOf } from '../../support/samples/forum-items.ts';

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await Pipeline.create();
});
afterEach(() => pipeline.drop());

async function publishRemovals(ids: readonly string[]): Promise<void> {
  const removed_at = new Date().toISOString();
  const records = ids.map((thing_id) => ({ key: thing_id, value: JSON.stringify({ v: 1, thing_id, removed_at }) }));
  await pipeline.kafka.publisher.publish(FORUM_REMOVALS.name, records);
}

async function caughtUp(group: string, ...topics: string[]): Promise<void> {
  await eventually(`${group} has committed everything`, async () => {
    const lags = await consumerLag(pipeline.kafka.kafka, { prefix: pipeline.kafka.prefix, group, topics });
    return lags.every(({ lag }) => lag === 0);
  });
}

const removalsCaughtUp = () => caughtUp(groups.REMOVALS_ARCHIVER_GROUP, FORUM_REMOVALS.name);

test.each(['becomes unavailable', 'was never there'])(
  'deletes removed content from Postgres while ClickHouse %s, however much there is',
  async (state) => {
    const proxy = await TcpProxy.start(pipeline.clickhouseUrl);
    const clickhouse = createClickhouse(proxy.url, 'test');
    const ready = Promise.withResolvers<boolean>();
    if (state === 'becomes unavailable') ready.resolve(true);
    const deps = { ...pipeline.kafka, pool: pipeline.db.pool, clickhouse, archiveReady: ready.promise };
    const archiver = await startArchiver({ ...deps, logger: silentLogger() });
    proxy.goAway();
    // More than one batch of each partition: one that fails is repeated, and nothing after it is read.
    const items = Array.from({ length: 1_600 }, (_, number) => forumItemOf(`t1_r${10_000 + number}`));
    await storeItems(pipeline.db.pool, items);
    await publishRemovals(items.map(({ thing_id }) => thing_id));
    await caughtUp(groups.REMOVALS_RECORDER_GROUP, FORUM_REMOVALS.name);
    const { rows } = await pipeline.db.pool.query<{ author: string; body: string; n: number }>(
      `SELECT author, body, count(*)::int AS n FROM matched_items NATURAL JOIN removed_things GROUP BY author, body`,
    );
    expect(rows).toEqual([{ author: '[deleted]', body: '', n: items.length }]);
    proxy.comeBack();
    ready.resolve(true);
    await removalsCaughtUp();
    await archiver.stop();
    await clickhouse.close();
    await proxy.stop();
  },
);
