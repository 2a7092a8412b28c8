import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { RECORDER_GROUP } from '../../../schemas/messages/topics.ts';
import {
  allMatches,
  endedRun,
  publishedMatches,
  publishItems,
  seenItem,
  untilArchived,
} from '../../support/fixtures/backfill/backfill-fixture.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';

const RECORDER_CHILD = join(import.meta.dirname, '../../support/children/recorder-child.ts');

let pipeline: Pipeline;
const children = new Set<ChildProcess>();

beforeEach(async () => {
  pipeline = await Pipeline.create();
});
afterEach(async () => {
  const exits = [...children].map((child) => once(child, 'exit'));
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(exits);
  // Members that were killed leave the group when their session ends.
  await eventually('the group of the recorders is empty', async () => {
    const { kafka, prefix } = pipeline.kafka;
    const { groups } = await kafka.withAdmin((admin) => admin.describeGroups([prefix + RECORDER_GROUP]));
    return groups[0]!.members.length === 0;
  });
  await pipeline.drop();
});

/** A recorder with backfills in a process of its own. */
function startRecorder(
  more: { killedAfter?: number; killedBefore?: number; killedAfterMatches?: boolean } = {},
): ChildProcess {
  const { kafka, db, clickhouseUrl } = pipeline;
  const backfills = { clickhouseUrl, leaseSeconds: 1 };
  const brokers = inject('kafkaBrokers');
  const options = { brokers, prefix: kafka.prefix, postgresUrl: db.url, backfills, ...more };
  const child = spawn(process.execPath, [RECORDER_CHILD, JSON.stringify(options)], { stdio: 'inherit' });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

test('a run goes on after kill -9 before and after each of its commits, and publishes what was committed', async () => {
  await pipeline.start('archiver', 'matcher');
  const { apiKey, accountId } = await pipeline.api.account();
  const items = Array.from({ length: 4_700 }, (_, at) =>
    seenItem(`t1_kill${at.toString(36).padStart(4, '0')}`, 12_000_000 - at * 1_000, { body: 'some gallium' }),
  );
  await publishItems(pipeline, items);
  await untilArchived(pipeline, items.length);
  const { id } = await pipeline.api.monitor(apiKey, { keywords: ['gallium'] });
  const from = new Date(Date.now() - 86_400_000).toISOString();
  expect((await pipeline.api.call(apiKey, 'POST', `/v1/monitors/${id}/backfill`, { from })).status).toBe(202);
  const stateOfRun = async () => {
    const { rows } = await pipeline.db.pool.query<{ matches: number; isUnpublished: boolean; isFree: boolean }>(
      `SELECT matches, published_seq IS DISTINCT FROM last_seq AS "isUnpublished",
         lease_until > service_now() IS NOT TRUE AS "isFree"
       FROM backfills`,
    );
    return rows[0]!;
  };
  // Commits claim the run, claim nothing, or record up to 500 matches. Only the last point is sure to record.
  const points = [
    { killedAfter: 1 },
    { killedBefore: 2 },
    { killedAfter: 3 },
    { killedBefore: 4 },
    { killedAfter: 4 },
    { killedAfterMatches: true },
  ];
  for (const point of points) {
    expect(await once(startRecorder(point), 'exit')).toEqual([null, 'SIGKILL']);
    // Workers of the next process would claim nothing until then, which are commits too.
    await eventually('the lease of the killed process ends', async () => (await stateOfRun()).isFree);
  }
  const { isUnpublished, matches: recorded } = await stateOfRun();
  expect(isUnpublished).toBe(true);
  expect(recorded).toBeLessThan(items.length);
  startRecorder();
  expect(await endedRun(pipeline, apiKey, id)).toMatchObject({
    state: 'done',
    matches: 4_700,
    credits: 47,
    already_known: 0,
  });
  const matches = await allMatches(pipeline, apiKey, id);
  expect(matches.map(({ thing_id }) => thing_id)).toEqual(items.map(({ thing_id }) => thing_id));
  expect(matches.map((match) => Number(match.id.slice(-12)))).toEqual(items.map((_, index) => index + 1));
  expect(new Set((await publishedMatches(pipeline)).map(({ seq }) => seq)).size).toBe(4_700);
  const { rows } = await pipeline.db.pool.query(
    `SELECT (SELECT sum(-amount)::int FROM ledger_entries WHERE account_id = $1 AND kind = 'backfill') AS paid,
            (SELECT sum(amount)::int FROM ledger_entries WHERE account_id = $1) = a.balance AS balanced
     FROM accounts a WHERE id = $1`,
    [accountId],
  );
  expect(rows).toEqual([{ paid: 47, balanced: true }]);
});
