import { execFile, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OpenApiDocument } from '../../../services/api/openapi/openapi-shape.ts';
import { resolved } from '../../support/oracles/openapi-checker.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestForum } from '../../support/fakes/test-forum.ts';
import type { TestForum } from '../../support/fakes/test-forum.ts';
import { ORVAL_PROGRAM, PYTHON_PROGRAM, TYPED_FETCH_PROGRAM } from './generated-clients.cases.ts';

const MODULES = join(import.meta.dirname, '../../../node_modules');
/** A Python that has openapi-python-client, which `pip install openapi-python-client` brings. */
const PYTHON = process.env.TEST_PYTHON ?? 'python3';
const HAS_GENERATOR = spawnSync(PYTHON, ['-c', 'import openapi_python_client, httpx']).status === 0;

const TSCONFIG = {
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024', 'dom', 'dom.iterable'],
    module: 'nodenext',
    types: [],
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: false,
    noUncheckedIndexedAccess: true,
    // Node runs the programs as they are.
    erasableSyntaxOnly: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
  },
  include: ['*.ts'],
};

let db: TestDatabase;
let forum: TestForum;
let api: TestApi;
let folder: string;
let document: OpenApiDocument;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  [db, forum] = await Promise.all([createTestDatabase(), startTestForum()]);
  api = await startTestApi(db.pool, { forum: forum.forum });
  folder = mkdtempSync(join(tmpdir(), 'forum-clients-test-'));
  symlinkSync(MODULES, join(folder, 'node_modules'));
  const text = await (await fetch(`${api.url}/openapi.json`)).text();
  document = JSON.parse(text) as OpenApiDocument;
  writeFileSync(join(folder, 'openapi.json'), text);
  const { apiKey } = await api.account();
  const listing = await api.call(apiKey, 'GET', '/v1/forum/subreddit?sub=coffee&sort=new&limit=1');
  const [post] = listing.body.items as { name: string }[];
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  env = { PATH, HOME, NODE_COMPILE_CACHE, API_URL: api.url, API_KEY: apiKey, POST_ID: post!.name };
});

afterAll(async () => {
  await api.stop();
  await forum.stop();
  await db.drop();
  rmSync(folder, { recursive: true, force: true });
});

const execute = promisify(execFile);

/** @throws Error with all output when it fails */
async function run(command: string, args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  try {
    return await execute(command, args, { cwd: folder, env });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command} ${args.join(' ')}:\n${stdout}${stderr}`, { cause: error });
  }
}

const node = (script: string, ...args: string[]) => run(process.execPath, [script, ...args]);

/** The operations with each status, and the media types of its answer. */
function documentedAnswers(): { id: string; status: string; types: string[] }[] {
  return Object.values(document.paths)
    .flatMap((item) => Object.values(item))
    .flatMap(({ operationId: id, responses }) =>
      Object.entries(responses).map(([status, response]) => ({
        id,
        status,
        types: Object.keys(resolved(document, response).content ?? {}),
      })),
    );
}

const expected = () => ({
  status: 201,
  secret: 'whsec_',
  warning: 'wildcard',
  posts: true,
  keywords: ['tea'],
  matches: 0,
  today: 0,
  deleted: 'deleted',
  post: env.POST_ID,
  missing: [404, 'not_found'],
  wrong: [400, 'q'],
});

test('openapi-typescript and orval generate clients that compile, lose no answer and work', async () => {
  const write = (name: string, content: string) => writeFileSync(join(folder, name), content);
  write('tsconfig.json', JSON.stringify(TSCONFIG));
  write('package.json', '{"type": "module"}');
  write('typed-fetch.ts', TYPED_FETCH_PROGRAM);
  write('use-orval.ts', ORVAL_PROGRAM);
  write('answers.ts', answerTypes());
  const forOrval = {
    input: { target: 'openapi.json' },
    output: { target: 'orval.ts', client: 'fetch', baseUrl: api.url },
  };
  write('orval.config.mjs', `export default ${JSON.stringify({ forum: forOrval })};`);
  await Promise.all([
    node('node_modules/openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'paths.ts'),
    node('node_modules/orval/dist/bin/orval.mjs', '--config', 'orval.config.mjs'),
  ]);
  const generated = readFileSync(join(folder, 'orval.ts'), 'utf8');
  const lost = documentedAnswers().filter(({ id, status }) => !generated.includes(`type ${id}Response${status}`));
  expect(lost).toEqual([]);
  const [, typedFetch, orval] = await Promise.all([
    node('node_modules/typescript/bin/tsc', '-p', '.'),
    node('typed-fetch.ts'),
    node('use-orval.ts'),
  ]);
  expect(JSON.parse(typedFetch.stdout)).toEqual({ ...expected(), text: true });
  expect(JSON.parse(orval.stdout)).toEqual({ ...expected(), text: true });
});

/** Compiles only if every documented answer has a type with content. */
function answerTypes(): string {
  const calls = documentedAnswers().flatMap(({ id, status, types }) =>
    types.map((type) => `kept<operations['${id}']['responses'][${status}]['content']['${type}']>();`),
  );
  return `import type { operations } from './paths.ts';
declare function kept<T>(...lost: unknown extends T ? ['lost'] : [keyof T] extends [never] ? ['lost'] : []): void;
export function answers(): void {
${calls.join('\n')}
}
`;
}

test.skipIf(!HAS_GENERATOR)('openapi-python-client generates a client that loses no answer and works', async () => {
  env.PATH = `${dirname(PYTHON)}:${env.PATH ?? ''}`;
  const generate = ['-m', 'openapi_python_client', 'generate', '--path', 'openapi.json', '--meta', 'none'];
  const { stdout, stderr } = await run(PYTHON, [...generate, '--output-path', 'forum_client', '--overwrite']);
  expect(stdout + stderr).not.toMatch(/warning|omitted|cannot/i);
  const sources = globSync(join(folder, 'forum_client/api/*/*.py'));
  const lost = documentedAnswers().filter(({ id, status }) => {
    const file = sources.find((path) =>
      path.endsWith(`/${id.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}.py`),
    );
    return file === undefined || !readFileSync(file, 'utf8').includes(`status_code == ${status}`);
  });
  expect(lost).toEqual([]);
  writeFileSync(join(folder, 'use_python.py'), PYTHON_PROGRAM);
  expect(JSON.parse((await run(PYTHON, ['use_python.py'])).stdout)).toEqual(expected());
});
