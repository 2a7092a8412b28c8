import { spawnSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';

let db: TestDatabase;
let api: TestApi;
beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});

const LANGUAGES = [
  ['sh', 'bash', ['-c']],
  ['js', process.execPath, ['--input-type=module', '-e']],
  ['python', 'python3', ['-c']],
] as const;

test.for(
  LANGUAGES.flatMap(([language, command, options]) =>
    (['get-account', 'explain-rule', 'create-monitor'] as const).map((page) => ({ page, language, command, options })),
  ),
)('the example of $page in $language works as it is written', async ({ page, language, command, options }, context) => {
  context.skip(spawnSync(command, ['--version']).status !== 0, `${command} is not installed`);
  const { apiKey } = await api.account();
  const markdown = await (await fetch(`${api.url}/docs/reference/api/${page}.md`)).text();
  const code = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``)
    .exec(markdown)![1]!
    .replaceAll('http://localhost', api.url);
  // At the first level of shells, bash takes itself for one of a remote login and reads its start files.
  const child = spawn(command, [...options, code], { env: { PATH: process.env.PATH, KEY: apiKey, SHLVL: '2' } });
  const texts = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (texts.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (texts.err += chunk.toString()));
  const [status] = (await once(child, 'close')) as [number];
  expect({ status, err: texts.err }).toEqual({ status: 0, err: '' });
  expect(texts.out).toMatch({ 'get-account': /balance/, 'explain-rule': /matched/, 'create-monitor': /whsec_/ }[page]);
});
