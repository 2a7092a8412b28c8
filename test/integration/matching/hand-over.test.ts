import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../support/fixtures/eventually.ts';
import { insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { MatcherFixture } from '../../support/fixtures/matcher-fixture.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';

let matchers: MatcherFixture;
beforeEach(async () => {
  matchers = await MatcherFixture.create();
});
afterEach(() => matchers.drop());

const RUST = Array.from({ length: 8 }, () => 'rust');
const first = (names: string[]) => names.map((name) => `1 ${name}`);
const second = (names: string[]) => names.map((name) => `2 ${name}`);

test('the next owner finds for a new monitor what the one before committed without knowing it, and nothing twice', async () => {
  const [known] = (await insertMonitors(matchers.db.pool, 1)) as [string];
  const before = await matchers.start();
  const early = await matchers.say(...RUST);
  await matchers.consumed();
  const created = await matchers.createSilently();
  const late = await matchers.say(...RUST);
  await matchers.consumed();
  expect(await matchers.candidatesOf(created)).toEqual([]);
  const committed = await matchers.committed();
  await before.stop();

  await matchers.start();
  await matchers.expectCandidates(created, first(late));
  const latest = await matchers.say(...RUST);
  await matchers.consumed();
  await matchers.expectCandidates(created, first([...late, ...latest]));
  await matchers.expectCandidates(known, first([...early, ...late, ...latest]));
  for (const [partition, offset] of Object.entries(await matchers.committed())) {
    expect(BigInt(offset), 'a refill commits nothing').toBeGreaterThanOrEqual(BigInt(committed[partition]!));
  }
});

test('the next owner judges by a changed rule only what entered after the change', async () => {
  const [id] = (await insertMonitors(matchers.db.pool, 1)) as [string];
  const before = await matchers.start();
  const early = await matchers.say(...RUST);
  await matchers.consumed();
  await matchers.changeSilently(id, ['rust', 'iron']);
  const late = await matchers.say(...RUST);
  await matchers.consumed();
  await before.stop();
  await matchers.start();
  await matchers.expectCandidates(id, [...first([...early, ...late]), ...second(late)]);
  const latest = await matchers.say('iron');
  await matchers.expectCandidates(id, [...first([...early, ...late]), ...second([...late, ...latest])]);
});

test('a matcher that joins takes partitions and empties the ring of the other: a change announced after that finds all', async () => {
  await matchers.start();
  const created = await matchers.createSilently();
  const names = await matchers.say(...RUST);
  await matchers.consumed();
  await matchers.start();
  await matchers.announce(created);
  await matchers.expectCandidates(created, first(names));
});

test('several owners one after the other, each stopped at once: nothing is lost', async () => {
  const created = await matchers.createSilently();
  const names: string[] = [];
  for (let times = 0; times < 3; times++) {
    names.push(...(await matchers.say(...RUST)));
    await (await matchers.start()).stop();
  }
  await matchers.start();
  await matchers.consumed();
  const found = new Set(await matchers.candidatesOf(created));
  expect([...found].sort()).toEqual(first(names).sort());
});

test('Postgres goes away with a change unread: nothing is committed without it, stopping does not hang, the next owner has it', async () => {
  const proxy = await TcpProxy.start(matchers.db.url);
  matchers.onDrop(() => proxy.stop());
  const before = await matchers.start({ poolUrl: proxy.url });
  await matchers.say(...RUST);
  await matchers.consumed();
  const committed = await matchers.committed();
  proxy.goAway();
  const created = await matchers.createSilently();
  await matchers.announce(created);
  const names = await matchers.say(...RUST);
  // The listener's own connection lives, so consumption is not paused; it waits for the change.
  await eventually('the items are matched', async () => {
    const { values } = await matchers.kafka.metrics.matcherItems.get();
    return values.reduce((sum, { value }) => sum + value, 0) > RUST.length;
  });
  const started = performance.now();
  await before.stop();
  expect(performance.now() - started).toBeLessThan(7_000);
  expect(await matchers.committed()).toEqual(committed);
  await matchers.start();
  await matchers.expectCandidates(created, first(names));
});
