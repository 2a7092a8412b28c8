import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readEndpoints, writeEndpoints } from '../../../../shared/runtime/endpoints-file.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'forum-test-endpoints-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

test('endpoints.json is read while its process is running, and ignored once it has ended', () => {
  const addresses = { api: 'a', metrics: 'm', kafka: 'k', postgres: 'p', clickhouse: 'c', simulator: 's' };
  const endpoints = { ...addresses, embedded: [] };
  writeEndpoints(dataDir, { pid: process.pid, ...endpoints });
  expect(readEndpoints(dataDir)).toEqual({ pid: process.pid, ...endpoints });
  // The pid of the owner was given to another process after a crash of the machine.
  const file = join(dataDir, 'endpoints.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/("startedAt": ")[^"]*/, '$1before'));
  expect(readEndpoints(dataDir)).toBeUndefined();
  writeEndpoints(dataDir, { pid: 2 ** 30, ...endpoints });
  expect(readEndpoints(dataDir)).toBeUndefined();
});
