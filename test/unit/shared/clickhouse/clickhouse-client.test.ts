import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createClickhouse } from '../../../../shared/clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../../../../shared/clickhouse/clickhouse-client.ts';
import { unavailableEngine } from '../../../../shared/runtime/outage-log.ts';
import { eventually } from '../../../support/fixtures/eventually.ts';

let server: Server;
let clickhouse: ClickHouseClient;
/** Answers that the server owes to statements with the word `held`. */
let held: ServerResponse[];
let connections: number;

const ROWS = '{"id":"a"}\n{"id":"b"}\n';
/** How the server goes on after the first rows of a statement with the word `rows`. */
let goOn: (response: ServerResponse) => void;

beforeEach(async () => {
  held = [];
  connections = 0;
  server = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (statement: string) => {
      if (statement.includes('held')) held.push(response);
      else if (statement.includes('rows')) response.write(ROWS, () => goOn(response));
      else response.end('{"one":1}\n');
    });
  });
  server.on('connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  clickhouse = createClickhouse(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'test');
});

afterEach(async () => {
  vi.useRealTimers();
  await clickhouse.close();
  server.closeAllConnections();
  server.close();
});

async function ask(query: string, signal?: AbortSignal): Promise<unknown> {
  const answer = await clickhouse.query({
    query,
    format: 'JSONEachRow',
    ...(signal === undefined ? {} : { abort_signal: signal }),
  });
  return answer.json();
}

test('a statement that is given up before it is sent does not end a later one', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  expect(await ask('SELECT 1')).toEqual([{ one: 1 }]);
  const leaving = new AbortController();
  const givenUp = ask('SELECT 2', leaving.signal);
  leaving.abort();
  await expect(givenUp).rejects.toThrow('aborted');
  const answer = ask('SELECT held');
  await vi.waitFor(() => {
    expect(held).toHaveLength(1);
  });
  // As long as connections may be idle. The one that answers now is not.
  await vi.advanceTimersByTimeAsync(5_000);
  held[0]!.end('{"one":1}\n');
  expect(await answer).toEqual([{ one: 1 }]);
  expect(connections).toBe(1);
});

test('statements share a connection, which is closed when it is idle', async () => {
  expect(await ask('SELECT 1')).toEqual([{ one: 1 }]);
  expect(await ask('SELECT 2')).toEqual([{ one: 1 }]);
  expect(connections).toBe(1);
  const open = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
  await eventually('the connection is closed', async () => (await open()) === 0);
});

/** The rows, or the engine that the error is blamed on. */
async function read(signal?: AbortSignal, whileReading = () => {}): Promise<unknown> {
  const options = signal === undefined ? {} : { abort_signal: signal };
  const answer = await clickhouse.query({ query: 'SELECT rows', format: 'JSONEachRow', ...options });
  const rows = answer.json().catch((error: unknown) => unavailableEngine(error));
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
