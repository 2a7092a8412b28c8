import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createLaunchOutput } from '../../../../services/launcher/launch-output.ts';

const folder = mkdtempSync(join(tmpdir(), 'forum-output-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const KEY = 'fk_demodemo_a-key-for-this-test';
const demoKeyFile = join(folder, 'demo-key');
writeFileSync(demoKeyFile, `${KEY}\n`);

function record(format: 'pretty' | 'json', level: string) {
  let out = '';
  let err = '';
  const output = createLaunchOutput({ format, level, out: (text) => (out += text), err: (text) => (err += text) });
  output.progress('kafka is ready');
  output.warn('kafka ended');
  output.ready({
    baseUrl: 'http://localhost:8080',
    dashboardUrl: 'http://localhost:8080',
    demoKeyFile,
    seconds: 4.237,
  });
  return { out, err };
}

test.each(['info', 'silent'])(
  'people get plain text with the demo key and the next commands, at LOG_LEVEL=%s',
  (level) => {
    const { out, err } = record('pretty', level);
    expect(out).toMatch(/^kafka is ready\n/);
    for (const fact of [
      'http://localhost:8080/v1',
      'http://localhost:8080/docs',
      'http://localhost:8080/dashboard',
      KEY,
      'demo-key)',
      '-X POST',
      'sign-in-link',
    ])
      expect(out).toContain(fact);
    expect(err).toBe('WARNING: kafka ended\n');
  },
);

test('anything else gets JSON lines with the same facts, and only the path of the demo key', () => {
  const { out, err } = record('json', 'info');
  const lines = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toMatchObject([
    { level: 30, part: 'launcher', msg: 'kafka is ready' },
    { level: 40, part: 'launcher', msg: 'kafka ended' },
    {
      part: 'launcher',
      api: 'http://localhost:8080/v1',
      docs: 'http://localhost:8080/docs',
      dashboard: 'http://localhost:8080/dashboard',
      demo_key_file: demoKeyFile,
      seconds: 4.2,
      msg: 'the forum monitor is ready',
    },
  ]);
  expect(out).not.toContain(KEY.slice(11));
  expect(err).toBe('');
});
