import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { itemRow } from '../../../shared/stores/archive/archive-rows.ts';
import { HOSTILE, isEscaped, MonitorPagesBench } from '../../support/dashboard/monitor-pages-bench.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { forumItemOf } from '../../support/samples/forum-items.ts';

let db: TestDatabase;
let archive: TestArchive;
let bench: MonitorPagesBench;
beforeAll(async () => {
  db = await createTestDatabase();
  archive = await createTestArchive(db.pool);
  bench = await MonitorPagesBench.create({ clickhouse: archive.client });
  const bodies = [
    ...Array.from({ length: 30 }, (_, number) => `zinc ${number < 5 ? 'brewery' : ''} ${HOSTILE}`),
    ...Array.from({ length: 300 }, (_, number) => `nothing ${number}`),
  ];
  const values = bodies.map((body, number) => itemRow(forumItemOf(`t1_${number}`, { body, title: HOSTILE }), false));
  await archive.client.insert({ table: 'items', values, format: 'JSONEachRow' });
});
afterAll(async () => {
  await bench.drop();
  await archive.drop();
  await db.drop();
});
beforeEach(() => bench.reset());

const FORM = { name: 'My monitor', keywords: 'zinc', posts: 'on', comments: 'on' };

test('a rule is tried before it is stored; a suggestion fills its field and tries again', async () => {
  const page = await bench.person.post('/monitors/new', { ...FORM, do: 'try' });
  expect([page.status, isEscaped(page)]).toEqual([200, true]);
  expect(page.html).toContain('<strong>30 matches</strong>');
  expect(page.html).toContain('<mark>zinc</mark>');
  expect(page.html).toContain('5 of 30 matches contain “brewery”');
  const value = /name="add" value="(exclude brewery)"/.exec(page.html)?.[1] ?? '';
  const narrower = await bench.person.post('/monitors/new', { ...FORM, exclude: 'brass', add: value });
  expect(narrower.html).toContain('<strong>25 matches</strong>');
  expect(narrower.html).toMatch(/<textarea[^>]*name="exclude"[^>]*>\s*brass\nbrewery<\/textarea>/);
  expect((await bench.api.call(bench.owner.apiKey, 'GET', '/v1/monitors')).body.items).toEqual([]);
});

test('trying a change stores nothing, and a faulty rule is refused beside its field', async () => {
  const id = await bench.monitor({ keywords: ['brass'] });
  const page = await bench.person.post(`/monitors/${id}/edit`, { ...FORM, do: 'try' });
  expect(page.html).toContain('<strong>30 matches</strong>');
  expect(await bench.read(id)).toMatchObject({ keywords: ['brass'] });
  const faulty = await bench.person.post('/monitors/new', { ...FORM, keywords: 'x', do: 'try' });
  expect(faulty.status).toBe(400);
  expect(faulty.html).toContain('“x” must have');
});
