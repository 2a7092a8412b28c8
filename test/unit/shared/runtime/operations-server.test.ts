import { get } from 'node:http';
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

test.each([
  [
    '127.0.0.1',
    ['evil.example', '127.0.0.1.evil.example:9464', '192.0.2.1', 'api'],
    ['127.0.0.1', '[::1]', 'LOCALHOST:1'],
  ],
  // As probes, Prometheus on Kubernetes and Prometheus in Compose ask.
  ['0.0.0.0', ['evil.example'], ['localhost:9464', '192.0.2.1:9464', '[2001:db8::1]', 'workers:9464']],
])(
  'on %s, pages whose Host is one of %s read nothing (DNS rebinding), scrapers do by %s',
  async (host, foreign, own) => {
    const listening = await startOperationsServer(
      createMetrics(),
      { host, port: 0 },
      { answer: () => Promise.resolve({ ready: true, parts: {} }) },
    );
    const ask = (name: string) =>
      new Promise((resolve) => {
        get(new URL('/metrics', listening.url), { headers: { host: name }, agent: false }, (response) => {
          response.resume().once('end', () => resolve(response.statusCode));
        });
      });
    try {
      for (const name of foreign) expect(await ask(name), name).toBe(403);
      for (const name of own) expect(await ask(name), name).toBe(200);
    } finally {
      await listening.stop();
    }
  },
);
