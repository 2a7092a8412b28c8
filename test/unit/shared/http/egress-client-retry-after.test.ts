import { expect, test } from 'vitest';
import { parseRetryAfter, parseRetryAfterBody } from '../../../../shared/http/egress-client.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');

test.each([
  [undefined, undefined],
  ['', undefined],
  ['0', 0],
  ['120', 120_000],
  [' 7 ', 7_000],
  ['1.337', 1_337],
  ['-5', undefined],
  ['soon', undefined],
  ['2026-11-21', undefined],
  ['Sat, 21 Nov 2026 12:00:30 GMT', 30_000],
  ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
  ['Sat, nonsense', undefined],
])('Retry-After %j means %j ms', (header, expected) => {
  expect(parseRetryAfter(header, NOW)).toBe(expected);
});

test.each([
  ['{"message": "You are being rate limited.", "retry_after": 64.57, "global": false}', 64_570],
  ['{"retry_after": 0.0001}', 1],
  ['{"retry_after": 0}', 0],
  ['{"retry_after": -1}', undefined],
  ['{"retry_after": "64"}', undefined],
  ['{"retry_after": null}', undefined],
  ['{"message": "retry_after: 5"}', undefined],
  ['[64]', undefined],
  ['null', undefined],
  ['64', undefined],
  ['{"retry_after": 64', undefined],
  ['<html>error 1015</html>', undefined],
  ['', undefined],
])('the body %s means %j ms', (body, expected) => {
  expect(parseRetryAfterBody(body)).toBe(expected);
});
