import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ClickHouseError } from '@clickhouse/client';
import { expect, test } from 'vitest';
import { isArchiveAway, isClickhouseAway } from '../../../../shared/clickhouse/clickhouse-away.ts';
import { createClickhouse } from '../../../../shared/clickhouse/clickhouse-client.ts';
import { awayEngine } from '../../../../shared/outages/away-engine.ts';
import { systemError } from '../../../support/samples/system-error.ts';
import { NETWORK } from '../outages/network-fault.cases.ts';
import { BALANCER_PAGES, CLICKHOUSE } from './clickhouse-away.cases.ts';

const serverError = (code: string) => new ClickHouseError({ message: 'says the server', code, type: 'SOME_TYPE' });

test.each(CLICKHOUSE.away)('the error code %s means that ClickHouse is away', (code) => {
  expect(isClickhouseAway(serverError(code))).toBe(true);
  expect(awayEngine(serverError(code))).toBe('clickhouse');
});

test.each(CLICKHOUSE.ours)('the error code %s means that the statement or its data are wrong', (code) => {
  expect(isClickhouseAway(serverError(code))).toBe(false);
  expect(awayEngine(serverError(code))).toBeUndefined();
});

test.each(['16', '47', '60'])('the archive is away while its schema is that of the release before: %s', (code) => {
  expect(isArchiveAway(serverError(code))).toBe(true);
  expect(isArchiveAway(serverError('62'))).toBe(false);
});

test('no error code is in both lists', () => {
  expect(CLICKHOUSE.away.filter((code) => CLICKHOUSE.ours.includes(code))).toEqual([]);
});

test.each(NETWORK)('the network error %s means that ClickHouse is away', (code) => {
  expect(isClickhouseAway(systemError(code))).toBe(true);
});

test.each(BALANCER_PAGES)('an answer by %s means that ClickHouse is away', async (_, page) => {
  const server = createServer((_request, response) => {
    response.statusCode = 502;
    response.end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = createClickhouse(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'test');
  try {
    const calls = [
      client.query({ query: 'SELECT 1' }),
      client.command({ query: 'SELECT 1' }),
      client.insert({ table: 't', values: [{ a: 1 }], format: 'JSONEachRow' }),
    ];
    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome).toMatchObject({ status: 'rejected' });
      expect(awayEngine((outcome as PromiseRejectedResult).reason)).toBe('clickhouse');
    }
  } finally {
    await client.close();
    server.close();
  }
});
