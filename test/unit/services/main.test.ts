import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { afterAll, describe, expect, test } from 'vitest';
import { checkReplayFiles } from '../../../services/crawler/replay/replay-plan.ts';
import { claimJoiningPorts, claimPorts } from '../../../services/launcher/claim-ports.ts';
import { DataDirLock } from '../../../services/launcher/engines/data-dir-lock.ts';
import { chooseServices } from '../../../services/service-names.ts';
import { ConfigError, loadConfig } from '../../../shared/runtime/config.ts';
import { VARIABLES } from '../../../shared/runtime/environment.ts';
import { errorMessage } from '../../../shared/runtime/errors.ts';
import { TRUST_PROXY_VALUES, WRONG_SETTINGS } from './wrong-settings.cases.ts';

const root = mkdtempSync(join(tmpdir(), 'forum-settings-test-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
writeFileSync(join(root, 'file'), '');

/** What a start checks before it starts anything; the message of its fault. */
function faultOf(env: Record<string, string>): string {
  try {
    checkReplayFiles(loadConfig(env).crawlSources);
    return 'no fault';
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return errorMessage(error);
  }
}

describe('a wrong setting is named', () => {
  test('of each variable', () => {
    expect([...Object.keys(WRONG_SETTINGS), 'DATA_DIR'].sort()).toEqual(Object.keys(VARIABLES.shape).sort());
    for (const [variable, value] of Object.entries(WRONG_SETTINGS)) {
      const fault = faultOf({ [variable]: value });
      expect(fault).toMatch(new RegExp(`\\b${variable}: `));
      // It may be a secret.
      if (value.length > 8 && !value.startsWith('replay:')) expect(fault).not.toContain(value);
    }
  });

  test.each(['/proc/foo', '/dev/null/data', join(root, 'file'), '/'])('DATA_DIR=%s', async (dataDir) => {
    await expect(DataDirLock.acquire(dataDir)).rejects.toThrow(`DATA_DIR ${dataDir} cannot be written to: `);
  });

  test('DATA_DIR that all users share keeps its permissions', async () => {
    await expect(DataDirLock.acquire(tmpdir())).rejects.toThrow(/choose a directory of its own/);
  });

  test('a service that does not exist', () => {
    expect(() => chooseServices(['matcher', 'matchr'])).toThrow(/Unknown service matchr.*matcher, recorder/);
    expect(chooseServices(['recorder', 'api'])).toEqual(['api', 'recorder']);
  });

  test('the same port twice', () => {
    expect(faultOf({ PORT: '8080', METRICS_PORT: '8080' })).toMatch(/METRICS_PORT: .*PORT/);
    expect(faultOf({ PORT: '0', METRICS_PORT: '0' })).toBe('no fault');
  });
});

test.each(TRUST_PROXY_VALUES)('TRUST_PROXY=%s is allowed: %s, as by Express', (value, isAllowed) => {
  const byExpress = () => express().set('trust proxy', /^\d+$/.test(value) ? Number(value) : value);
  if (isAllowed) {
    expect(loadConfig({ TRUST_PROXY: value }).http.trustProxy).toBe(value);
    if (value !== 'true' && value !== 'false') expect(byExpress).not.toThrow();
  } else {
    expect(() => loadConfig({ TRUST_PROXY: value })).toThrow(/TRUST_PROXY: must be/);
    expect(byExpress).toThrow();
  }
});

describe('ports', () => {
  const http = { host: '127.0.0.1', port: 0, metricsHost: '127.0.0.1', metricsPort: 0 };

  test('a joining process is told of a busy METRICS_PORT, and of PORT only with the API', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    await expect(claimJoiningPorts({ ...http, metricsPort: port }, { withApi: false })).rejects.toThrow(
      /METRICS_PORT=…/,
    );
    await expect(claimJoiningPorts({ ...http, port }, { withApi: true })).rejects.toThrow(/ PORT=…/);
    await expect(claimJoiningPorts({ ...http, port }, { withApi: false })).resolves.toBe(0);
    taken.close();
  });

  test('an address of another machine is named by its variable', async () => {
    const elsewhere = '192.0.2.1';
    await expect(claimPorts({ ...http, host: elsewhere }, () => undefined)).rejects.toThrow(
      /^HOST 192\.0\.2\.1 is not/,
    );
    await expect(claimPorts({ ...http, metricsHost: elsewhere }, () => undefined)).rejects.toThrow(/^METRICS_HOST 192/);
  });
});
