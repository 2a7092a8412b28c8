import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { awaitReady, startOwnedProcess } from '../../../../../services/launcher/engines/owned-process.ts';
import type { OwnedProcess } from '../../../../../services/launcher/engines/owned-process.ts';
import { sqlState } from '../../../../../shared/postgres/postgres-unavailable.ts';

const root = mkdtempSync(join(tmpdir(), 'forum-test-engines-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let sleeper: OwnedProcess;
let log: string;
beforeEach(async () => {
  const dataDir = mkdtempSync(join(root, 'case-'));
  log = join(dataDir, 'logs', 'sleeper.log');
  sleeper = await startOwnedProcess({
    name: 'sleeper',
    command: '/bin/sh',
    args: ['-c', 'exec sleep 60'],
    env: process.env,
    pidFile: join(dataDir, 'run', 'sleeper.pid'),
    marker: dataDir,
    output: log,
    stopSignal: 'SIGTERM',
    stopDeadlineMs: 200,
  });
  return async () => {
    await sleeper.stop();
  };
});

/** A server that recovers for five times the deadline. */
function recovering(): () => Promise<void> {
  const recovered = performance.now() + 500;
  return async () => {
    if (performance.now() > recovered) return Promise.resolve();
    throw Object.assign(new Error('the database system is starting up'), { code: '57P03' });
  };
}

describe('awaitReady', () => {
  test('waits beyond the deadline for a server that says it is starting', async () => {
    const isStarting = (error: unknown) => sqlState(error) === '57P03';
    await awaitReady({ process: sleeper, probe: recovering(), isStarting, deadlineMs: 100, log, logFrom: 0 });
    expect(sleeper.end()).toBeUndefined();
  });
});
