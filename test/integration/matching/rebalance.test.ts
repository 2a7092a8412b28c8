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

/** With this clock a listener keeps its connection. With a new one it would find changes that were not announced. */
const standing = () => 0;

const RUST = Array.from({ length: 8 }, () => 'rust');
const first = (names: string[]) => names.map((name) => `1 ${name}`);
const second = (names: string[]) => names.map((name) => `2 ${name}`);

test('the next owner finds for a new monitor the items that the previous owner committed without knowing it, each once', async () => {
  const [known] = (await insertMonitors(matchers.db.pool, 1)) as [string];
  const before = await matchers.start({ clock: standing });
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

test('the next owner matches a changed rule only against items that entered after the change', async () => {
  const [id] = (await insertMonitors(matchers.db.pool, 1)) as [string];
  const before = await matchers.start({ clock: standing });
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

test('a change that is announced after a rebalance emptied the ring still finds all items', async () => {
  await matchers.start();
  const created = await matchers.createSilently();
  const names = await matchers.say(...RUST);
  await matchers.consumed();
  await matchers.start();
  await matchers.announce(created);
  await matchers.expectCandidates(created, first(names));
});

test('loses nothing when several owners start and stop in turn', async () => {
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

test('commits nothing while a change cannot be read, stops without hanging, and the next owner applies the change', async () => {
  const proxy = await TcpProxy.start(matchers.db.url);
  matchers.onDrop(() => proxy.stop());
  const before = await matchers.start({ poolUrl: proxy.url });
  await matchers.say(...RUST);
  await matchers.consumed();
  const committed = await matchers.committed();
  proxy.goAway();
  const created = await matchers.createSilently();
  await matchers.announce(created);
  // Items that arrive before the notification may be committed: the next owner scans them again.
  await eventually('the matcher has the notification and tries to read the monitor', () => proxy.refused > 0);
  const names = await matchers.say(...RUST);
  // The listener's own connection works, so consumption is not paused; it waits for the change.
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
