import pg from 'pg';
import { expect, test } from 'vitest';
import { awayEngine } from '../../../../shared/outages/away-engine.ts';
import { isPostgresAway, sqlState } from '../../../../shared/postgres/postgres-away.ts';
import { systemError } from '../../../support/samples/system-error.ts';
import { NETWORK } from '../outages/network-fault.cases.ts';
import { SQLSTATES } from './postgres-away.cases.ts';

function databaseError(code: string): Error {
  return Object.assign(new pg.DatabaseError('says the server', 0, 'error'), { code });
}

test.each(Object.entries(SQLSTATES))('SQLSTATEs of class %s', (sqlClass, { away, ours }) => {
  expect([...away, ...ours].every((code) => code.startsWith(sqlClass))).toBe(true);
  const judge = (code: string) => [code, isPostgresAway(databaseError(code)), awayEngine(databaseError(code))];
  for (const code of away) expect(judge(code)).toEqual([code, true, 'postgres']);
  for (const code of ours) expect(judge(code)).toEqual([code, false, undefined]);
});

test.each(NETWORK)('the network error %s means that Postgres is away', (code) => {
  expect(isPostgresAway(systemError(code))).toBe(true);
  expect(isPostgresAway(new AggregateError([new Error('x'), systemError(code)]))).toBe(true);
});

test.each([
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'Query read timeout',
  'timeout expired',
  'timeout exceeded when trying to connect',
  'Client has encountered a connection error and is not queryable',
])('the message of the client "%s" means that Postgres is away', (message) => {
  expect(isPostgresAway(new Error(message))).toBe(true);
  expect(awayEngine(new Error(message))).toBe('postgres');
});

test.each([
  [databaseError('40P01'), '40P01'],
  [systemError('EPIPE'), undefined],
  [Object.assign(new Error('x'), { code: '243' }), undefined],
  [new Error('40P01'), undefined],
])('the SQLSTATE of "%s" is %s', (error, state) => {
  expect(sqlState(error)).toBe(state);
});
