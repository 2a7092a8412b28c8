import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ClickHouseError } from '@clickhouse/client';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { isArchiveUnavailable, isClickhouseUnavailable } from '../../../../shared/clickhouse/clickhouse-unavailable.ts';
import { createClickhouse } from '../../../../shared/clickhouse/clickhouse-client.ts';
import { unavailableEngine } from '../../../../shared/runtime/outage-log.ts';
import { certificateFault, markedEngine, markEngine } from '../../../../shared/runtime/errors.ts';
import { isPostgresUnavailable, sqlState } from '../../../../shared/postgres/postgres-unavailable.ts';
import { systemError } from '../../../support/samples/system-error.ts';

// The errors of Kafka are tested beside its classifier, kafka-unavailable.

test.each(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EMFILE'])(
  'the network error %s counts for the engine that it is marked with, else for Postgres',
  (code) => {
    expect(isPostgresUnavailable(new AggregateError([new Error('x'), systemError(code)]))).toBe(true);
    expect(isClickhouseUnavailable(systemError(code))).toBe(true);
    expect(unavailableEngine(systemError(code))).toBe('postgres');
    expect(unavailableEngine(markEngine(systemError(code), 'clickhouse'))).toBe('clickhouse');
  },
);

test('a socket that is not there is an outage; a file that is not there is none', () => {
  expect(unavailableEngine(systemError('ENOENT', 'connect'))).toBe('postgres');
  expect(unavailableEngine(systemError('ENOENT', 'open'))).toBeUndefined();
});

test.each(['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID'])(
  '%s is a fault of a certificate, also as a cause, and an outage while processes run',
  (code) => {
    const fault = systemError(code);
    expect(certificateFault(fault)).toBe(code);
    expect(certificateFault(new Error('the connection failed', { cause: fault }))).toBe(code);
    expect(certificateFault(new Error(code))).toBeUndefined();
    expect(unavailableEngine(fault)).toBe('postgres');
  },
);

test.each([
  new TypeError('x is not a function'),
  new RangeError('int8 value 9007199254740993 does not fit a JS number'),
  new Error('an invariant does not hold'),
  new Error('ECONNREFUSED'),
  systemError('EACCES'),
  'a string',
  undefined,
])('no engine explains a fault of this program: %s', (error) => {
  expect(unavailableEngine(error)).toBeUndefined();
});

test('an error keeps the engine of its last mark, which does not appear in logs; other values have none', () => {
  const error = markEngine(new Error('x'), 'kafka');
  expect([markedEngine(error), JSON.stringify(error)]).toEqual(['kafka', '{}']);
  expect(markedEngine(markEngine(error, 'clickhouse'))).toBe('clickhouse');
  expect(markedEngine(markEngine({ message: 'x' }, 'kafka'))).toBeUndefined();
});

describe('Postgres', () => {
  const databaseError = (code: string) =>
    Object.assign(new pg.DatabaseError('says the server', 0, 'error'), { code }) as Error;

  test.each([
    // Connections, resources, operators, disks, retries and a fail-over.
    ...['08006', '53100', '53300', '57014', '57P01', '57P03', '58030'],
    ...['40001', '40003', '40P01', '55000', '55P03', '25006', '25P03', '25P04'],
  ])('is unavailable by SQLSTATE %s', (code) => {
    expect([isPostgresUnavailable(databaseError(code)), unavailableEngine(databaseError(code))]).toEqual([
      true,
      'postgres',
    ]);
    expect(sqlState(databaseError(code))).toBe(code);
  });

  test.each([
    '0A000',
    '22P02',
    '23505',
    '25P02',
    '28P01',
    '40002',
    '42P01',
    '42501',
    '54000',
    '57P04',
    'P0001',
    'XX000',
  ])('is there by SQLSTATE %s, a fault of ours', (code) => {
    expect([isPostgresUnavailable(databaseError(code)), unavailableEngine(databaseError(code))]).toEqual([
      false,
      undefined,
    ]);
  });

  test.each([
    'Connection terminated unexpectedly',
    'Query read timeout',
    'timeout expired',
    'timeout exceeded when trying to connect',
    'Client has encountered a connection error and is not queryable',
  ])('is unavailable by the message of its client "%s"', (message) => {
    expect(unavailableEngine(new Error(message))).toBe('postgres');
  });

  test.each([systemError('EPIPE'), Object.assign(new Error('x'), { code: '243' }), new Error('40P01')])(
    '"%s" has no SQLSTATE',
    (error) => {
      expect(sqlState(error)).toBeUndefined();
    },
  );
});

describe('ClickHouse', () => {
  const serverError = (code: string) => new ClickHouseError({ message: 'says the server', code, type: 'SOME_TYPE' });

  test.each([
    // Missing tables of a node that lags behind, time, memory, sockets, disks, replicas, credentials, later versions.
    ...['60', '81', '159', '160', '202', '209', '210', '225', '241', '242', '243', '252', '319', '394', '516', '999'],
  ])('is unavailable by the code %s', (code) => {
    expect([isClickhouseUnavailable(serverError(code)), unavailableEngine(serverError(code))]).toEqual([
      true,
      'clickhouse',
    ]);
  });

  test.each([
    '6',
    '16',
    '27',
    '36',
    '43',
    '47',
    '53',
    '62',
    '70',
    '115',
    '117',
    '184',
    '349',
    '352',
    '386',
    '407',
    '452',
  ])('is there by the code %s: the statement or its data are wrong', (code) => {
    expect([isClickhouseUnavailable(serverError(code)), unavailableEngine(serverError(code))]).toEqual([
      false,
      undefined,
    ]);
  });

  test.each(['<html><body><h1>503 Service Unavailable</h1></body></html>', 'upstream connect error', ''])(
    'is unavailable when a balancer answers %j',
    async (page) => {
      const server = createServer((_request, response) => void response.writeHead(502).end(page));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const client = createClickhouse(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'test');
      const calls = [
        client.query({ query: 'SELECT 1' }),
        client.command({ query: 'SELECT 1' }),
        client.insert({ table: 't', values: [{ a: 1 }], format: 'JSONEachRow' }),
      ];
      for (const outcome of await Promise.allSettled(calls)) {
        expect(unavailableEngine((outcome as PromiseRejectedResult).reason)).toBe('clickhouse');
      }
      await client.close();
      server.close();
    },
  );
});

test.each(['16', '47', '60'])(
  'the archive is unavailable while its schema is that of the release before: %s',
  (code) => {
    const answered = (given: string) => new ClickHouseError({ message: 'says the server', code: given, type: 'X' });
    expect(isArchiveUnavailable(answered(code))).toBe(true);
    expect(isArchiveUnavailable(answered('62'))).toBe(false);
  },
);
