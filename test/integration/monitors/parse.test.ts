import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { refusedState } from '../../support/fixtures/refused-state.ts';

let db: TestDatabase;
let api: TestApi;
let owner: TestAccount;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
  owner = await api.account();
});

afterAll(async () => {
  await api.stop();
  await db.drop();
});

const parse = (body: unknown): Promise<Reply> => api.call(owner.apiKey, 'POST', '/v1/monitors/parse', body);

test('a text becomes the fields of a monitor; nothing is stored or charged', async () => {
  const before = await refusedState(db.pool);
  const reply = await parse({
    query: 'rust OR "memory safety" author:-automod sub:-rustjerk title:hiring* -game is:post once:thread lang:en',
  });
  expect(reply.status).toBe(200);
  expect(reply.body).toEqual({
    settings: {
      keywords: ['rust', 'memory safety'],
      exclude: ['game'],
      comments: false,
      terms: [{ text: 'hiring', prefix: true, in: ['title'] }],
      exclude_subreddits: ['rustjerk'],
      exclude_authors: ['automod'],
      languages: ['en'],
      thread_once: true,
    },
  });
  expect(reply.headers.get('x-credits-used')).toBeNull();
  expect(reply.headers.get('x-credits-remaining')).toBe('1000');
  expect(await refusedState(db.pool)).toEqual(before);
});

test.each([
  '=Go OR term:zig OR 咖啡',
  'title:(rust OR gopher*) AND (job OR =Hiring) AND "remote work" -"video game" sub:r/golang author:u/a nsfw:yes',
])('a monitor is created with the settings of %j', async (query) => {
  const { settings } = (await parse({ query })).body as { settings: object };
  const monitor = await api.monitor((await api.account()).apiKey, { keywords: undefined, ...settings });
  const { posts, comments, ...others } = settings as { posts?: boolean; comments?: boolean };
  expect(monitor).toMatchObject({ ...others, include_posts: posts ?? true, include_comments: comments ?? true });
});

test.each([
  ['rust OR\ntilte:hiring', 8, /^query: "tilte:" is not a field: .*\ntilte:hiring\n\^$/],
  ['"a\0"', 2, /^query: remove this character: it is NUL/],
  ['x'.repeat(60_000), 50_000, /^query: a query can have at most 50,000 characters/],
])('%j is refused at %i', async (query, position, message) => {
  const { status, body } = await parse({ query });
  expect([status, body]).toMatchObject([400, { error: { code: 'invalid_request', position } }]);
  expect((body.error as { message: string }).message).toMatch(message);
});
