import { expect, test } from 'vitest';
import { markedEngine, markEngine } from '../../../../shared/outages/engine.ts';

test('an error keeps the engine of its last mark', () => {
  const error = new Error('x');
  expect(markedEngine(error)).toBeUndefined();
  expect(markEngine(error, 'kafka')).toBe(error);
  expect(markedEngine(error)).toBe('kafka');
  expect(markedEngine(markEngine(error, 'clickhouse'))).toBe('clickhouse');
});

test('the mark does not appear in logs', () => {
  expect(JSON.stringify(markEngine(new Error('x'), 'kafka'))).toBe('{}');
});

test('a value that is not an error is not marked', () => {
  expect(markedEngine(markEngine({ message: 'x' }, 'kafka'))).toBeUndefined();
});
