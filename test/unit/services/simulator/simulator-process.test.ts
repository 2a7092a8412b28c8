import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const MAIN = join(import.meta.dirname, '../../../../services/simulator/main.ts');
let directory: string;
let child: ChildProcess | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'simulator-process-'));
});

afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(directory, { recursive: true });
});

async function start(settings: Record<string, string> = {}): Promise<string> {
  const env = {
    DATA_DIR: directory,
    SIMULATOR_RATE: '2000',
    SIMULATOR_EMITTED_LOG: join(directory, 'log'),
    ...settings,
  };
  child = fork(MAIN, { env, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const [message] = (await once(child, 'message')) as [{ type: string; url: string }];
  expect(message.type).toBe('ready');
  return message.url;
}

async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
  child!.kill(signal);
  const [code] = (await once(child!, 'exit')) as [number | null];
  return code;
}

interface Line {
  k: number;
  name: string;
}

function logged(): Line[] {
  if (!existsSync(join(directory, 'log'))) return [];
  const lines = readFileSync(join(directory, 'log'), 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Line);
}

async function untilLogged(count: number): Promise<void> {
  await expect.poll(() => logged().length, { timeout: 60_000, interval: 20 }).toBeGreaterThan(count);
}

test(
  'emits every item exactly once and keeps a complete log over kill -9 at full speed',
  { timeout: 120_000 },
  async () => {
    let before: Line[] = [];
    for (let round = 0; round < 3; round++) {
      await start();
      const mended = logged();
      expect(mended.slice(0, before.length)).toEqual(before);
      await untilLogged(mended.length + 300);
      await end('SIGKILL');
      before = logged().slice(0, -1);
    }
    await start();
    expect(await end('SIGTERM')).toBe(0);
    const names = logged().map((line) => line.name);
    expect(new Set(names).size).toBe(names.length);
    const position = Number(readFileSync(join(directory, 'simulator-position'), 'utf8'));
    expect(logged().at(-1)!.k).toBeLessThan(position);
  },
);

test('does not change the files of a running simulator whose port it tries to take', async () => {
  const url = await start({ SIMULATOR_RATE: '0' });
  const first = child!;
  const before = readFileSync(join(directory, 'simulator.json'), 'utf8');
  child = fork(MAIN, { env: { DATA_DIR: directory, SIMULATOR_PORT: new URL(url).port }, stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).toBe(1);
  expect(readFileSync(join(directory, 'simulator.json'), 'utf8')).toBe(before);
  child = first;
  expect(await end('SIGTERM')).toBe(0);
});
