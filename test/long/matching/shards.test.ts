import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { runAdminProcess } from '../../support/children/admin-process.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { MatcherFixture } from '../../support/fixtures/matcher-fixture.ts';

const TWO = [
  { shard: 1, shards: 2 },
  { shard: 2, shards: 2 },
] as const;

let matchers: MatcherFixture;
beforeAll(async () => {
  matchers = await MatcherFixture.create();
});
afterAll(() => matchers.drop());

const shareOut = (from: string, to: string) =>
  runAdminProcess(['matchers', 'share-out', '--from', from, '--to', to], {
    KAFKA_BROKERS: inject('kafkaBrokers'),
    KAFKA_TOPIC_PREFIX: matchers.kafka.prefix,
  });

async function create(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 0; number < count; number++) {
    const id = await matchers.createSilently();
    await matchers.announce(id);
    ids.push(id);
  }
  return ids;
}

/** Each candidate once, with the version that follows from the monitor's rule. */
const all = (things: readonly string[]) => things.map((thing) => `1 ${thing}`);

test('shards of matchers find what one finds, each monitor in one of them, also when their number changes', async () => {
  const one = await matchers.start();
  const early = await create(12);
  const before = await matchers.say('rust one', 'nothing');
  await matchers.consumed();
  expect(await shareOut('1', '2')).toMatchObject({
    code: 1,
    err: expect.stringContaining('matchers are running in matcher') as string,
  });
  await one.stop();
  expect(await shareOut('3', '2')).toMatchObject({
    code: 1,
    err: expect.stringContaining('--from 3 is right') as string,
  });

  // Between the old matchers and the new ones items enter, and monitors are created and changed.
  const between = await matchers.say('rust two', 'rust and coffee');
  const meanwhile = await create(4);
  const afterwards = await matchers.say('rust three');
  const { code, out } = await shareOut('1', '2');
  expect([code, JSON.parse(out)]).toEqual([
    0,
    { from: 1, to: 2, groups: ['matcher-1-of-2', 'matcher-2-of-2'], next: 'start all services with MATCHER_SHARDS=2' },
  ]);

  const [first] = [await matchers.start({ shard: TWO[0] }), await matchers.start({ shard: TWO[1] })];
  const late = await create(12);
  const last = await matchers.say('rust four', 'coffee');
  for (const shard of TWO) await matchers.consumed(shard);
  const expected = new Map([
    ...early.map((id) => [id, all([before[0]!, ...between, ...afterwards, last[0]!])] as const),
    ...meanwhile.map((id) => [id, all([...afterwards, last[0]!])] as const),
    ...late.map((id) => [id, all([last[0]!])] as const),
  ]);
  for (const [id, candidates] of expected) {
    // The announcement of the last monitor may come after the last item was matched.
    await eventually(`all candidates of ${id}`, async () => {
      const found = await matchers.candidatesOf(id);
      return candidates.every((candidate) => found.includes(candidate));
    });
  }

  // Without the first shard, its monitors find nothing, and the others everything, once.
  await first.stop();
  const [alone] = await matchers.say('rust five');
  await matchers.consumed(TWO[1]);
  const ids = [...expected.keys()];
  const hits = await Promise.all(ids.map((id) => matchers.candidatesOf(id)));
  const served = hits.filter((candidates) => candidates.includes(`1 ${alone!}`));
  expect(served.length).toBeGreaterThan(0);
  expect(served.length).toBeLessThan(ids.length);
  expect(hits.flat().filter((candidate) => candidate === `1 ${alone!}`)).toHaveLength(served.length);
  // The first shard, started again, finds it for the rest.
  await matchers.start({ shard: TWO[0] });
  await matchers.consumed(TWO[0]);
  for (const id of ids) expect(await matchers.candidatesOf(id)).toContain(`1 ${alone!}`);
});
