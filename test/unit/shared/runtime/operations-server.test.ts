import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMetrics } from '../../../../shared/runtime/metrics.ts';
import { startOperationsServer } from '../../../../shared/runtime/operations-server.ts';
import type { OperationsServer } from '../../../../shared/runtime/operations-server.ts';

const parts: Record<string, boolean> = { postgres: false, kafka: false, api: true };
let server: OperationsServer;

beforeAll(async () => {
  const answer = (excluded: ReadonlySet<string>) =>
    Promise.resolve({ ready: Object.keys(parts).every((part) => parts[part] || excluded.has(part)), parts });
  server = await startOperationsServer(createMetrics(), { host: '127.0.0.1', port: 0 }, { answer });
});
afterAll(() => server.stop());

test.each([
  ['/readyz', 503],
  ['/readyz?exclude=postgres', 503],
  ['/readyz?exclude=postgres&exclude=kafka', 200],
  ['/readyz?exclude=kafka&exclude=postgres&other=1', 200],
  ['/healthz', 200],
  ['/readyz/', 404],
])('GET %s answers %i', async (path, status) => {
  const response = await fetch(new URL(path, server.url));
  expect(response.status).toBe(status);
  if (path.startsWith('/readyz?')) expect(await response.json()).toEqual({ ready: status === 200, parts });
});
