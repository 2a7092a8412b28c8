import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RuleRefinements } from '../../../shared/matching/rule.ts';
import { newMonitorId } from '../../../shared/rules/identifiers.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { readActiveRules, readRulesById } from '../../../shared/monitors/monitor-rules.ts';
import { insertMonitor, readMonitor, ruleOf, updateMonitorSettings } from '../../../shared/monitors/monitors.ts';
import type { MonitorSettings } from '../../../shared/monitors/monitors.ts';
import { insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let accountId: string;
beforeAll(async () => {
  db = await createTestDatabase();
  await insertMonitors(db.pool, 1);
  const { rows } = await db.pool.query<{ id: string }>('SELECT id FROM accounts');
  accountId = rows[0]!.id;
});
afterAll(() => db.drop());

/** Everything that the API lets through: well-formed, without NUL. */
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((any) => !any.includes('\0'));
const texts = fc.array(text, { minLength: 1, maxLength: 4 });
const searched = fc.subarray(['title', 'body', 'post_title'] as const, { minLength: 1 });
const optional = { requiredKeys: [] };
const term = fc
  .tuple(text, fc.record({ prefix: fc.constant(true), caseSensitive: fc.constant(true), in: searched }, optional))
  .map(([written, conditions]) => ({ text: written, ...conditions }));
const refinements: fc.Arbitrary<RuleRefinements> = fc.record(
  {
    terms: fc.array(term, { minLength: 1, maxLength: 4 }),
    require: fc.array(fc.array(fc.oneof(text, term), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
    matchIn: searched,
    excludeSubreddits: texts,
    authors: texts,
    excludeAuthors: texts,
    languages: texts,
  },
  optional,
);
const settings: fc.Arbitrary<MonitorSettings> = fc.record({
  name: text,
  keywords: fc.array(text, { maxLength: 3 }),
  exclude: fc.array(text, { maxLength: 3 }),
  subreddits: fc.array(text, { maxLength: 3 }),
  posts: fc.boolean(),
  comments: fc.boolean(),
  nsfw: fc.boolean(),
  refinements: refinements.map((all) => (Object.keys(all).length === 0 ? null : all)),
  threadOnce: fc.boolean(),
  webhookUrl: fc.constant(null),
  webhookKind: fc.constant(null),
  spikeWebhook: fc.boolean(),
  digest: fc.constantFrom(null, 'hourly', 'daily'),
  notify: fc.constantFrom(null, 'email'),
});

test('settings are read back as they were stored, by another process and by the matcher', async () => {
  const other = createPool({ url: db.url, name: 'other', logger: silentLogger() });
  const expectStored = async (id: string, expected: MonitorSettings) => {
    expect(await readMonitor(other, accountId, id)).toMatchObject(expected);
    const [found] = (await readRulesById(other, [id], 1)).monitors;
    const active = (await readActiveRules(other, '', 1_000, 1e9)).find((one) => one.id === id);
    expect([found!.rule, active!.rule]).toEqual([ruleOf(expected), ruleOf(expected)]);
  };
  await fc.assert(
    fc.asyncProperty(settings, settings, async (first, second) => {
      const id = newMonitorId();
      await insertMonitor(db.pool, { ...first, id, accountId, sealedSecret: Buffer.of() });
      await expectStored(id, first);
      await updateMonitorSettings(db.pool, id, { ...second, version: 2 });
      await expectStored(id, second);
    }),
    { numRuns: 100 },
  );
  await other.end();
});
