import { afterEach, beforeEach, expect, test } from 'vitest';
import { allMatches, endedRun, publishItems, untilArchived } from '../../support/fixtures/backfill/backfill-fixture.ts';
import {
  exitOf,
  expectConsistent,
  oldComments,
  RecorderChildren,
  startRun,
} from '../../support/fixtures/backfill/killed-recorders.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';

let pipeline: Pipeline;
let recorders: RecorderChildren;

beforeEach(async () => {
  pipeline = await Pipeline.create();
  recorders = new RecorderChildren(pipeline);
});
afterEach(async () => {
  await recorders.stop();
  await pipeline.drop();
}, 90_000);

test('a run goes on after kill -9 before and after each of its commits, and publishes what was committed', async () => {
  await pipeline.start('archiver', 'matcher');
  const { apiKey, accountId } = await pipeline.api.account();
  const items = oldComments('kill', 4_700, 'some gallium');
  await publishItems(pipeline, items);
  await untilArchived(pipeline, items.length);
  const { id } = await pipeline.api.monitor(apiKey, { keywords: ['gallium'] });
  await startRun(pipeline, apiKey, id);
  const stateOfRun = async () => {
    const { rows } = await pipeline.db.pool.query<{ matches: number; isUnpublished: boolean; isFree: boolean }>(
      `SELECT matches, published_seq IS DISTINCT FROM last_seq AS "isUnpublished",
         lease_until > service_now() IS NOT TRUE AS "isFree"
       FROM backfills`,
    );
    return rows[0]!;
  };
  // Commits claim the run, or record up to 500 matches; the other worker claims nothing now and then.
  const points = [{ killedAfter: 1 }, { killedBefore: 2 }, { killedAfter: 3 }, { killedBefore: 4 }, { killedAfter: 4 }];
  // On a busy machine each of these may meet one that claims nothing. A few more record at most 500 matches each.
  const more = Array.from({ length: 4 }, () => ({ killedAfter: 2 }));
  let wasUnpublished = false;
  for (const [index, point] of [...points, ...more].entries()) {
    if (index >= points.length && wasUnpublished) break;
    expect(await exitOf(recorders.start(point))).toBe('SIGKILL');
    wasUnpublished ||= (await stateOfRun()).isUnpublished;
    // Workers of the next process would claim nothing until then, which are commits too.
    await eventually('the lease of the killed process ends', async () => (await stateOfRun()).isFree);
  }
  expect(wasUnpublished).toBe(true);
  expect((await stateOfRun()).matches).toBeLessThan(items.length);
  recorders.start();
  expect(await endedRun(pipeline, apiKey, id)).toMatchObject({
    state: 'done',
    matches: 4_700,
    credits: 47,
    already_known: 0,
  });
  expect((await allMatches(pipeline, apiKey, id)).map(({ thing_id }) => thing_id)).toEqual(
    items.map(({ thing_id }) => thing_id),
  );
  await expectConsistent(pipeline, { apiKey, accountId }, [id]);
});
