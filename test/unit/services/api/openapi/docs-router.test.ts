import { webcrypto } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import express from 'express';
import { expect, test } from 'vitest';
import { buildOpenApiDocument } from '../../../../../services/api/openapi/build-openapi.ts';
import { createDocsRouter } from '../../../../../services/api/openapi/docs-router.ts';
import type { OpenApiDocument } from '../../../../../services/api/openapi/openapi-shape.ts';

interface ShownRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
}

interface Shown {
  spec: OpenApiDocument;
  requestInterceptor: (request: ShownRequest) => ShownRequest;
}

/** Runs the script of the page as a browser at this address would, without `randomUUID`, which http pages lack. */
async function showDocs(address: string): Promise<Shown> {
  const server = express().use(createDocsRouter()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  const script = await (await fetch(`http://127.0.0.1:${port}/docs/start.js`)).text();
  await new Promise((resolve) => server.close(resolve));
  let shown: Shown | undefined;
  const document = buildOpenApiDocument('https://elsewhere.example.com');
  await (runInNewContext(`(async () => {${script}})()`, {
    URL,
    location: { href: address },
    fetch: () => Promise.resolve({ json: () => Promise.resolve(JSON.parse(JSON.stringify(document))) }),
    crypto: { getRandomValues: (bytes: Uint8Array) => webcrypto.getRandomValues(bytes) },
    SwaggerUIBundle: (options: Shown) => (shown = options),
  }) as Promise<void>);
  return shown!;
}

test('"try it out" sends a fresh Idempotency-Key with each request that may have one', async () => {
  const own = 'http://10.0.0.7:8080/forum';
  const { spec, requestInterceptor } = await showDocs(`${own}/docs`);
  expect(spec.servers).toMatchObject([{ url: own }]);
  const keyOf = (method: string, path: string, headers = {}) =>
    requestInterceptor({ method, url: own + path, headers: { ...headers } }).headers['Idempotency-Key'];
  const keys = [
    keyOf('POST', '/v1/monitors'),
    keyOf('POST', '/v1/monitors'),
    keyOf('POST', '/v1/monitors/mon_3k7m2q9x4t8v/resume'),
    keyOf('POST', '/v1/monitors', { 'Idempotency-Key': '' }),
  ];
  for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(keys).size).toBe(keys.length);
  expect(keyOf('POST', '/v1/monitors', { 'Idempotency-Key': 'mine' })).toBe('mine');
  for (const [method, path] of [
    ['GET', '/v1/monitors'],
    ['POST', '/v1/monitors/mon_3k7m2q9x4t8v/pause'],
    ['POST', '/v1/monitors/a/b/resume'],
  ] as const) {
    expect(keyOf(method, path), path).toBeUndefined();
  }
  expect(requestInterceptor({ method: 'POST', url: 'https://x.example/v1/monitors', headers: {} }).headers).toEqual({});
  // A prefilled example would be sent with every request.
  const parameters = spec.paths['/v1/monitors']!.post!.parameters;
  expect(parameters.find(({ name }) => name === 'Idempotency-Key')).not.toHaveProperty('example');
});
