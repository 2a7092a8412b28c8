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

test('the next owner finds for new and changed monitors the items that the previous owner committed without knowing, each once', async () => {
  const [known, changed] = (await insertMonitors(matchers.db.pool, 2)) as [string, string];
  const before = await matchers.start({ clock: standing });
  const early = await matchers.say(...RUST);
  await matchers.consumed();
  const created = await matchers.createSilently();
  await matchers.changeSilently(changed, ['rust', 'iron']);
  const late = await matchers.say(...RUST);
  await matchers.consumed();
  expect(await matchers.candidatesOf(created)).toEqual([]);
  const committed = await matchers.committed();
  await before.stop();

  await matchers.start();
  await matchers.expectCandidates(created, first(late));
  await matchers.expectCandidates(changed, [...first([...early, ...late]), ...second(late)]);
  const latest = await matchers.say(...RUST);
  await matchers.consumed();
  await matchers.expectCandidates(created, first([...late, ...latest]));
  await matchers.expectCandidates(changed, [...first([...early, ...late]), ...second([...late, ...latest])]);
  await matchers.expectCandidates(known, first([...early, ...late, ...latest]));
  for (const [partition, offset] of Object.entries(await matchers.committed())) {
    expect(BigInt(offset), 'a refill commits nothing').toBeGreaterThanOrEqual(BigInt(committed[partition]!));
  }
});

test('changes that are announced after a rebalance dropped the recent items still find all items', async () => {
  const [changed] = (await insertMonitors(matchers.db.pool, 1)) as [string];
  await matchers.start();
  const created = await matchers.createSilently();
  await matchers.changeSilently(changed, ['rust', 'iron']);
  const names = await matchers.say(...RUST);
  await matchers.consumed();
  await matchers.start();
  for (const id of [created, changed]) await matchers.announce(id);
  await matchers.expectCandidates(created, first(names));
  await matchers.expectCandidates(changed, [...first(names), ...second(names)]);
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
  await before.stop();
  expect(await matchers.committed()).toEqual(committed);
  await matchers.start();
  await matchers.expectCandidates(created, first(names));
});
