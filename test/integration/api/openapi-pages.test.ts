import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenApiDocument } from '../../../services/api/openapi/openapi-shape.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';

let db: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
});

afterAll(async () => {
  await api.stop();
  await db.drop();
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(api.url + path, { headers, redirect: 'manual' });

describe('/openapi.json', () => {
  test('is public and cacheable', async () => {
    const response = await get('/openapi.json');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    const document = (await response.json()) as OpenApiDocument;
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } });
    const etag = response.headers.get('etag')!;
    // Without Cache-Control, fetch itself asks for a fresh copy.
    const headers = { 'if-none-match': etag, 'cache-control': 'max-age=0' };
    const again = await api.call(undefined, 'GET', '/openapi.json', undefined, headers);
    expect([again.status, again.text.length, again.headers.get('etag')]).toEqual([304, 0, etag]);
    expect((await get('/openapi.json', { 'if-none-match': '"another"' })).status).toBe(200);
  });
});

describe('/docs', () => {
  test('is a page that may load from its own origin only', async () => {
    const response = await get('/docs');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = response.headers.get('content-security-policy')!;
    expect(policy).toContain(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'",
    );
    expect(policy).not.toMatch(/unsafe|https?:|\*|upgrade/);
    const page = await response.text();
    expect(page).not.toMatch(/https?:|\/\/|<style|style=| on\w+=|<script>|<script [^>]*>[^<]/);
  });

  test('loads only files that exist', async () => {
    const page = await (await get('/docs')).text();
    const links = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link!);
    expect(links.length).toBeGreaterThanOrEqual(4);
    for (const link of links) {
      const url = new URL(link, `${api.url}/docs`);
      expect(url.origin).toBe(api.url);
      const response = await fetch(url);
      expect(response.status, link).toBe(200);
      expect((await response.arrayBuffer()).byteLength, link).toBeGreaterThan(100);
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    }
    const script = await get('/docs/swagger-ui-bundle.js');
    expect(script.headers.get('content-type')).toContain('javascript');
    expect(script.headers.get('cache-control')).toContain('immutable');
    expect((await get('/docs/start.js')).headers.get('content-type')).toContain('javascript');
  });
});
