import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allMatches } from '../../support/clients/all-matches.ts';
import { fetchThings, readEmitted } from '../../support/clients/emitted-items.ts';
import type { EmittedItem } from '../../support/clients/emitted-items.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Installation } from '../../support/children/installation.ts';
import { wordPattern, wordsIn } from '../../support/oracles/naive-word-search.ts';
import { startWebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import type { WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';

/** Fewer comments than the 1,000 that the forum lists: none leaves the list, however long a restart takes. */
const ITEMS = 1_100;
const PER_SECOND = 40;

const WATCHES = [
  { name: 'everything', keywords: ['rust', 'coffee'], posts: true, comments: true, nsfw: true },
  { name: 'safe only', keywords: ['python'], posts: true, comments: true, nsfw: false },
  {
    name: 'posts only',
    keywords: ['release', 'update', 'anyone', 'finally'],
    posts: true,
    comments: false,
    nsfw: true,
  },
  { name: 'comments only', keywords: ['update'], posts: false, comments: true, nsfw: true },
];

let receiver: WebhookReceiver;
let installation: Installation;
let log: string;
let key: string;
const monitors = new Map<string, (typeof WATCHES)[number]>();

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  installation = await Installation.prepare({ SIMULATOR_RATE: String(PER_SECOND) });
  log = join(installation.dataDir, 'emitted.jsonl');
  installation.env.SIMULATOR_EMITTED_LOG = log;
  await installation.start();
  key = String(
    installation.admin('account', 'create', '--email', 'kill@example.com', '--credits', '100', '--pack', '79').api_key,
  );
});
afterAll(async () => {
  await installation.remove();
  await receiver.stop();
});

function emittedSince(time: number): EmittedItem[] {
  return readEmitted(log).filter(({ at }) => at >= time);
}

/** The pairs (monitor, thing) that a naive search finds in the items of the simulator. */
async function wanted(items: EmittedItem[]): Promise<Set<string>> {
  const things = await fetchThings(
    installation.endpoints().simulator,
    items.map(({ name }) => name),
  );
  const pairs = new Set<string>();
  for (const item of items) {
    const thing = things.get(item.name);
    if (!thing) throw new Error(`the simulator no longer knows ${item.name}`);
    for (const [monitor, watch] of monitors) {
      if (item.kind === 'post' ? !watch.posts : !watch.comments) continue;
      if (item.over_18 && !watch.nsfw) continue;
      const patterns = new Map(watch.keywords.map((word) => [word, wordPattern(word)]));
      if (wordsIn(thing, patterns).length > 0) pairs.add(`${monitor} ${item.name}`);
    }
  }
  return pairs;
}

test('after kill -9 of the services and of the whole tree, nothing is lost, repeated or unnumbered', async () => {
  for (const watch of WATCHES) {
    const answer = await installation.call(key, 'POST', '/v1/monitors', { ...watch, webhook_url: receiver.url });
    expect(answer.status).toBe(201);
    monitors.set((answer.body as { monitor: { id: string } }).monitor.id, watch);
  }
  const created = Date.now();

  await eventually('a quarter has flowed', () => emittedSince(created).length >= ITEMS / 4, 60_000);
  installation.killOne('services-main');
  await eventually('half has flowed', () => emittedSince(created).length >= ITEMS / 2, 60_000);
  await installation.killAll();
  const before = emittedSince(created).length;
  installation.env.SIMULATOR_COUNT = String(ITEMS - before);
  await installation.start();
  await eventually('all items are emitted', () => emittedSince(created).length >= ITEMS, 90_000);

  const items = emittedSince(created);
  await wait(Math.max(0, Math.max(...items.map(({ visible_at }) => visible_at)) - Date.now()));
  const expected = await wanted(items);
  expect(expected.size).toBeGreaterThan(100);
  const found = new Set([...expected].map((pair) => monitors.get(pair.split(' ')[0]!)!.name));
  expect(found.size, 'every rule has matches').toBe(WATCHES.length);
  const possible = await wanted(readEmitted(log));

  // Exactly the expected items are recorded.
  const recordedPairs = async () => {
    const matches = await Promise.all([...monitors.keys()].map((id) => allMatches(installation, key, id)));
    return matches.flat();
  };
  await eventually(
    'every expected item is recorded',
    async () => {
      const pairs = new Set((await recordedPairs()).map((match) => `${match.monitor_id} ${match.thing_id}`));
      const missing = [...expected].filter((pair) => !pairs.has(pair));
      if (missing.length > 0)
        throw new Error(`${missing.length} of ${expected.size} missing: ${missing.slice(0, 5).join(', ')}`);
      return true;
    },
    240_000,
  );
  const matches = await recordedPairs();
  const pairs = matches.map((match) => `${match.monitor_id} ${match.thing_id}`);
  expect(new Set(pairs).size).toBe(pairs.length);
  expect(pairs.filter((pair) => !possible.has(pair))).toEqual([]);

  // Match ids end with their sequence number, and no number is missing.
  for (const monitor of monitors.keys()) {
    const numbers = matches.filter(({ monitor_id }) => monitor_id === monitor).map(({ id }) => Number(id.slice(-12)));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  }

  // Every match reached the webhook, each with one id.
  await eventually(
    'every webhook is received',
    () => {
      const ids = new Set(receiver.received.map(({ headers }) => headers['x-service-delivery']));
      return matches.every(({ id }) => ids.has(id));
    },
    60_000,
  );
  const things = new Map<string, Set<string>>();
  for (const { headers, body } of receiver.received) {
    const { match } = JSON.parse(body) as { match: { id: string; monitor_id: string; thing_id: string } };
    expect(headers['x-service-delivery']).toBe(match.id);
    const pair = `${match.monitor_id} ${match.thing_id}`;
    things.set(pair, (things.get(pair) ?? new Set()).add(match.id));
  }
  expect([...things].filter(([, ids]) => ids.size !== 1)).toEqual([]);
}, 600_000);
