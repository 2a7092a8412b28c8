import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLaunchOutput } from '../../../../services/launcher/launch-output.ts';

const folder = mkdtempSync(join(tmpdir(), 'forum-output-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());
const KEY = 'fk_demodemo_a-key-for-this-test';
const demoKeyFile = join(folder, 'demo-key');
writeFileSync(demoKeyFile, `${KEY}\n`);

function launch({ isTerminal = true, format, level = 'info' }: Setting = {}) {
  const written = { out: '', err: '' };
  const out = { isTTY: isTerminal, hasColors: () => false, write: (text: string) => (written.out += text) };
  const output = createLaunchOutput({ format, level, out, err: (text) => (written.err += text) });
  const ready = (hasDemo = true) =>
    output.ready({
      baseUrl: 'http://localhost:8080',
      dashboardUrl: 'http://localhost:8080',
      metricsUrl: 'http://127.0.0.1:9464',
      dataDir: folder,
      demoKeyFile: hasDemo ? demoKeyFile : undefined,
      seconds: 4.237,
    });
  return { output, written, ready };
}

interface Setting {
  isTerminal?: boolean;
  format?: 'pretty' | 'json';
  level?: string;
}

test.each(['info', 'silent'])('a terminal gets addresses, demo key and next commands, at LOG_LEVEL=%s', (level) => {
  const { output, written, ready } = launch({ level });
  output.note('kafka is ready (1.0 s)');
  output.warn('kafka ended');
  ready();
  const base = 'http://localhost:8080';
  for (const fact of [`${base}/v1`, `${base}/docs`, `${base}/dashboard`, 'http://127.0.0.1:9464/metrics', KEY])
    expect(written.out).toContain(fact);
  expect(written.out.match(/^ {2}# .+$/gm)).toHaveLength(3);
  expect(written.out).not.toContain('kafka');
  expect(written.err).toBe('WARNING: kafka ended\n');
});

test('no warning steers the terminal or looks like a further line', () => {
  const { output, written } = launch();
  output.warn('the folder a\u001b[2J\nWARNING: forged\u202e');
  expect(written.err).toBe('WARNING: the folder a?[2J\\nWARNING: forged?\n');
});

test('a terminal is told of a step only where that takes longer than a second', () => {
  const { output, written, ready } = launch();
  output.step('starting Kafka');
  vi.advanceTimersByTime(900);
  output.step('starting the services');
  vi.advanceTimersByTime(1_100);
  expect(written.out).toBe('Starting the services\n');
  output.step('opening the doors');
  ready();
  vi.advanceTimersByTime(5_000);
  expect(written.out).not.toContain('Opening');
});

test('without a demo account the first command opens an account', () => {
  const { written, ready } = launch();
  ready(false);
  expect(written.out).not.toContain('demo');
  expect(written.out).toMatch(/ account create .*[^]*YOUR_KEY/);
});

test('pretty lines in a pipe name only the file of the demo key', () => {
  const { written, ready } = launch({ isTerminal: false, format: 'pretty' });
  ready();
  expect(written.out).toContain(`in ${demoKeyFile}`);
  expect(written.out).not.toContain(KEY);
});

test.each([{ isTerminal: false }, { format: 'json' as const }])(
  'JSON lines have the same facts, and only the path of the demo key: %j',
  (how) => {
    const { output, written, ready } = launch(how);
    output.step('starting Kafka');
    vi.advanceTimersByTime(2_000);
    output.note('kafka is ready');
    output.warn('kafka ended');
    ready();
    const lines = written.out
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
    expect(written.out).not.toContain(KEY.slice(11));
    expect(written.err).toBe('');
  },
);
