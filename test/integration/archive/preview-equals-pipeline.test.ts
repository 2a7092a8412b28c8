import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ForumItem } from '../../../schemas/messages/forum-item.ts';
import { FORUM_COMMENTS, FORUM_POSTS } from '../../../schemas/messages/topics.ts';
import { scanArchive } from '../../../services/api/monitors/archive-samples.ts';
import { refinementsResource } from '../../../shared/monitors/rules/print-rule-query.ts';
import type { MatchItem, Rule } from '../../../shared/matching/rule.ts';
import { listMonitors, ruleOf } from '../../../shared/monitors/monitors.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';
import { forumItemOf } from '../../support/samples/forum-items.ts';
import { refinedScene } from '../../support/samples/refined-arbitraries.ts';
import { ITEM_CASE_RULE } from '../../unit/shared/matching/cases/items/item-case.ts';
import { ITEM_CASES } from '../../unit/shared/matching/cases/items/all-items.ts';
import { TERM_CASES } from '../../unit/shared/matching/cases/terms/all-terms.ts';

const MONITORS_PER_ACCOUNT = 100;
const RULES_PER_SCAN = 20;
/** Terms of the tables in one rule. */
const TERMS = 20;
const DAY_MS = 86_400_000;

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await Pipeline.create();
});
afterAll(() => pipeline.drop());

const SCENES = fc.sample(refinedScene(3, 4), { numRuns: 24, seed: 11 });

/** Terms in the order of the tables, several in one rule, as customers have them. */
function rules(): Rule[] {
  const keywords = TERM_CASES.map(({ keyword }) => keyword);
  const all = [
    ...Array.from({ length: Math.ceil(keywords.length / TERMS) }, (_, group) => ({
      ...ITEM_CASE_RULE,
      keywords: keywords.slice(TERMS * group, TERMS * (group + 1)),
    })),
    // One rule of each kind: those with the same members differ in their words only.
    ...new Map(
      ITEM_CASES.map(({ monitor }) => [Object.keys(monitor).sort().join(), { ...ITEM_CASE_RULE, ...monitor }]),
    ).values(),
    ...SCENES.flatMap((scene) => scene.rules),
  ];
  return [...new Map(all.map((rule) => [JSON.stringify(rule), rule])).values()];
}

function items(): ForumItem[] {
  const matchItems: MatchItem[] = [
    ...SCENES.flatMap((scene) => scene.items),
    ...TERM_CASES.flatMap(({ matches, misses }) => [...matches, ...misses].map(comment)),
    ...ITEM_CASES.map(({ item }) => item),
  ];
  const live = matchItems.map(({ kind, text, title, subreddit, nsfw, author = '[deleted]', language }, number) =>
    forumItemOf(`${kind === 'post' ? 't3' : 't1'}_${number.toString(36)}`, {
      ...{ title, body: text, subreddit, nsfw, author, post_id: number.toString(36) },
      ...(language !== undefined && { language }),
    }),
  );
  // An old post that is seen anew is not new.
  const old = new Date(Date.now() - 8 * DAY_MS).toISOString();
  return [...live, forumItemOf('t1_old', { body: 'rust', created_utc: old })];
}

const comment = (text: string): MatchItem => ({ kind: 'comment', title: '', text, subreddit: 'a', nsfw: false });

/** The monitors that the API accepts of these rules, by id. */
async function createMonitors(all: readonly Rule[]): Promise<Map<string, Rule>> {
  const stored = new Map<string, Rule>();
  for (let start = 0; start < all.length; start += MONITORS_PER_ACCOUNT) {
    const { apiKey, accountId } = await pipeline.api.account({ credits: 2_000, pack: 79 });
    for (const { keywords, exclude, subreddits, posts, comments, nsfw, ...refinements } of all.slice(
      start,
      start + 100,
    )) {
      const body = { name: 'one', keywords, exclude, subreddits, posts, comments, nsfw };
      // Some drawn rules have more than a monitor may have.
      await pipeline.api.call(apiKey, 'POST', '/v1/monitors', { ...body, ...refinementsResource(refinements, false) });
    }
    for (const monitor of await listMonitors(pipeline.db.pool, accountId)) stored.set(monitor.id, ruleOf(monitor));
  }
  return stored;
}

async function recordedPairs(): Promise<string[]> {
  const { rows } = await pipeline.db.pool.query<{ pair: string }>(
    `SELECT monitor_id || ' ' || thing_id AS pair FROM matches`,
  );
  return rows.map(({ pair }) => pair).sort();
}

async function recordedCount(): Promise<number> {
  const { rows } = await pipeline.db.pool.query<{ n: number }>('SELECT count(*)::integer AS n FROM matches');
  return rows[0]?.n ?? 0;
}

async function archived(): Promise<number> {
  const result = await pipeline.clickhouse.query({
    query: 'SELECT count() AS n FROM items FINAL',
    format: 'JSONEachRow',
  });
  return (await result.json<{ n: number }>())[0]?.n ?? 0;
}

/** What previews find of the rules, as pairs. */
async function previewedPairs(monitors: ReadonlyMap<string, Rule>): Promise<string[]> {
  const pairs: string[] = [];
  const all = [...monitors];
  for (let start = 0; start < all.length; start += RULES_PER_SCAN) {
    const scan = scanArchive(
      {
        clickhouse: pipeline.clickhouse,
        rules: Object.fromEntries(all.slice(start, start + RULES_PER_SCAN)),
        ...{ from: new Date(Date.now() - DAY_MS), to: new Date(Date.now() + DAY_MS), disconnected: undefined },
        deadline: AbortSignal.timeout(60_000),
      },
      ({ content }, matches) => {
        for (const { monitorId } of matches) pairs.push(`${monitorId} ${content.thing_id}`);
      },
    );
    let done = false;
    for await (const extent of scan) ({ done } = extent);
    expect(done).toBe(true);
  }
  return pairs.sort();
}

test('a preview finds exactly what the pipeline recorded, for all rules of matching and drawn ones', async () => {
  const monitors = await createMonitors(rules());
  expect(monitors.size).toBeGreaterThan(30);
  await pipeline.start('matcher', 'recorder', 'archiver');
  const seen = items();
  for (const topic of [FORUM_POSTS, FORUM_COMMENTS]) {
    const kind = topic === FORUM_POSTS ? 'post' : 'comment';
    const records = seen
      .filter((item) => item.kind === kind)
      .map((item) => ({ key: item.thing_id, value: JSON.stringify(item) }));
    await pipeline.kafka.publisher.publish(topic.name, records);
  }
  await eventually('all items are archived', async () => (await archived()) === seen.length, 60_000);
  const previewed = await previewedPairs(monitors);
  const areAll = async () => (await recordedCount()) >= previewed.length;
  // The comparison says more than the time that has run out.
  await eventually('all matches are recorded', areAll, 60_000).catch(() => undefined);
  const recorded = await recordedPairs();
  const differences = [previewed, recorded].map((pairs, side) => {
    const others = new Set(side === 0 ? recorded : previewed);
    return pairs.filter((pair) => !others.has(pair));
  });
  expect(differences).toEqual([[], []]);
  expect(previewed.length).toBeGreaterThan(500);
}, 400_000);
