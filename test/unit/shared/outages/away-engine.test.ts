import { expect, test } from 'vitest';
import { awayEngine } from '../../../../shared/outages/away-engine.ts';
import { markEngine } from '../../../../shared/outages/engine.ts';
import { systemError } from '../../../support/samples/system-error.ts';
import { NETWORK } from './network-fault.cases.ts';

// The errors of each engine are tested beside its classifier: kafka-away, postgres-away, clickhouse-away.

test.each(NETWORK)('the network error %s counts for the engine that it is marked with, else for Postgres', (code) => {
  expect(awayEngine(markEngine(systemError(code), 'clickhouse'))).toBe('clickhouse');
  expect(awayEngine(systemError(code))).toBe('postgres');
});

test.each([
  new TypeError('x is not a function'),
  new RangeError('int8 value 9007199254740993 does not fit a JS number'),
  new Error('an invariant does not hold'),
  'a string',
  undefined,
])('no engine explains a fault of this program: %s', (error) => {
  expect(awayEngine(error)).toBeUndefined();
});
