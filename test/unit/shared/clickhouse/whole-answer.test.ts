import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createClickhouse } from '../../../../shared/clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../../../../shared/clickhouse/clickhouse-client.ts';
import { awayEngine } from '../../../../shared/outages/away-engine.ts';

const ROWS = '{"id":"a"}\n{"id":"b"}\n';

let server: Server;
let client: ClickHouseClient;
/** How the server goes on after its first rows. */
let goOn: (response: ServerResponse) => void;

beforeEach(async () => {
  server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.write(ROWS, () => goOn(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  client = createClickhouse(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, 'test');
});
afterEach(async () => {
  await client.close();
  server.closeAllConnections();
  server.close();
});

/** The rows, or the engine that the error is blamed on. */
async function read(signal?: AbortSignal, whileReading = () => {}): Promise<unknown> {
  const options = signal === undefined ? {} : { abort_signal: signal };
  const answer = await client.query({ query: 'SELECT id', format: 'JSONEachRow', ...options });
  const rows = answer.json().catch((error: unknown) => awayEngine(error));
  whileReading();
  return rows;
}

test('a whole answer is read', async () => {
  goOn = (response) => response.end();
  expect(await read()).toEqual([{ id: 'a' }, { id: 'b' }]);
  expect(await read(new AbortController().signal)).toEqual([{ id: 'a' }, { id: 'b' }]);
});

test('an error after the first rows is an outage of ClickHouse, no fault of ours', async () => {
  goOn = (response) => response.end('Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)\n');
  expect(await read()).toBe('clickhouse');
});

test('a connection that is lost after the first rows is an outage of ClickHouse, not of Postgres', async () => {
  goOn = (response) => response.destroy();
  expect(await read()).toBe('clickhouse');
});

test('the signal of the query ends an answer that stands still', async () => {
  const reader = new AbortController();
  goOn = () => {};
  expect(await read(reader.signal, () => reader.abort())).toBe('clickhouse');
});
