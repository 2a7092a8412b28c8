import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ClickHouseError } from '@clickhouse/client';
import kafkajsErrors from 'kafkajs/src/errors.js';
import protocol from 'kafkajs/src/protocol/error.js';
import pg from 'pg';
import { expect, test } from 'vitest';
import { isClickhouseAway } from '../../../../shared/clickhouse/clickhouse-away.ts';
import { createClickhouse } from '../../../../shared/clickhouse/clickhouse-client.ts';
import { isKafkaAway } from '../../../../shared/kafka/kafka-away.ts';
import { PublishFailed, PublishRefused } from '../../../../shared/kafka/publish-errors.ts';
import { awayEngine } from '../../../../shared/outages/away-engine.ts';
import { markEngine } from '../../../../shared/outages/engine.ts';
import { isPostgresAway } from '../../../../shared/postgres/postgres-away.ts';
import { BALANCER_PAGES, CLICKHOUSE, KAFKA_OURS, NETWORK, SQLSTATES } from './away-engine.cases.ts';

function databaseError(code: string): Error {
  return Object.assign(new pg.DatabaseError('says the server', 0, 'error'), { code });
}

function kafkajsError(name: string, about?: unknown, details: object = {}): Error {
  return new kafkajsErrors[name]!(about, details);
}

function systemError(code: string): Error {
  return Object.assign(new Error(`connect ${code}`), { code, syscall: 'connect' });
}

test.each(Object.entries(SQLSTATES))('Postgres, class %s', (sqlClass, { away, ours }) => {
  expect([...away, ...ours].every((code) => code.startsWith(sqlClass))).toBe(true);
  for (const code of away) expect([code, awayEngine(databaseError(code))]).toEqual([code, 'postgres']);
  for (const code of ours) expect([code, awayEngine(databaseError(code))]).toEqual([code, undefined]);
});

test.each(NETWORK)('the network: %s', (code) => {
  expect(isPostgresAway(systemError(code))).toBe(true);
  expect(isClickhouseAway(systemError(code))).toBe(true);
  expect(isPostgresAway(new AggregateError([new Error('x'), systemError(code)]))).toBe(true);
  expect(awayEngine(markEngine(systemError(code), 'clickhouse'))).toBe('clickhouse');
});

test.each([
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'Query read timeout',
  'timeout expired',
  'timeout exceeded when trying to connect',
  'Client has encountered a connection error and is not queryable',
])("Postgres's client: %s", (message) => {
  expect(awayEngine(new Error(message))).toBe('postgres');
});

test.each([
  ...CLICKHOUSE.away.map((code) => [code, 'clickhouse'] as const),
  ...CLICKHOUSE.ours.map((code) => [code, undefined] as const),
])('ClickHouse, code %s: %s', (code, engine) => {
  expect(awayEngine(new ClickHouseError({ message: 'says the server', code, type: 'SOME_TYPE' }))).toBe(engine);
});

test('no code of ClickHouse is in both lists', () => {
  expect(CLICKHOUSE.away.filter((code) => CLICKHOUSE.ours.includes(code))).toEqual([]);
});

test.each(BALANCER_PAGES)("ClickHouse behind %s: not ClickHouse's words, so it is away", async (_, page) => {
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

test.each(protocol.errorCodes.map(({ code, type }) => [type, code] as const))('Kafka, %s (%i)', (type, code) => {
  const isOurs = KAFKA_OURS.includes(type);
  const error = protocol.createErrorFromCode(code);
  expect(isKafkaAway(error)).toBe(!isOurs);
  const givenUp = kafkajsError('KafkaJSNumberOfRetriesExceeded', error, { retryCount: 10, retryTime: 1 });
  expect(awayEngine(givenUp)).toBe(isOurs ? undefined : 'kafka');
});

test.each([
  [kafkajsError('KafkaJSConnectionError', 'connect ENOTFOUND'), true],
  [kafkajsError('KafkaJSConnectionClosedError', 'closed'), true],
  [kafkajsError('KafkaJSRequestTimeoutError', 'no answer', {}), true],
  [kafkajsError('KafkaJSBrokerNotFound', 'gone'), true],
  [kafkajsError('KafkaJSGroupCoordinatorNotFound', 'none'), true],
  [kafkajsError('KafkaJSNoBrokerAvailableError'), true],
  [kafkajsError('KafkaJSNumberOfRetriesExceeded', systemError('EAI_AGAIN'), { retryCount: 10, retryTime: 1 }), true],
  [new PublishFailed('no acknowledgement'), true],
  [new PublishRefused('too large'), false],
  [kafkajsError('KafkaJSNonRetriableError', 'misused'), false],
  [kafkajsError('KafkaJSNotImplemented', 'Snappy'), false],
  [kafkajsError('KafkaJSSASLAuthenticationError', 'wrong password'), false],
  [kafkajsError('KafkaJSServerDoesNotSupportApiKey', 'old', {}), false],
])('Kafka: %s is away: %s', (error, away) => {
  expect(isKafkaAway(error)).toBe(away);
});

test.each([
  new TypeError('x is not a function'),
  new RangeError('int8 value 9007199254740993 does not fit a JS number'),
  new Error('an invariant does not hold'),
  'a string',
  undefined,
])('a fault of ours: %s', (error) => {
  expect(awayEngine(error)).toBeUndefined();
});
