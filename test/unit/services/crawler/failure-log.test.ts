import { beforeEach, expect, test } from 'vitest';
import { FailureLog } from '../../../../services/crawler/failure-log.ts';
import { UpstreamError } from '../../../../shared/forum-client/upstream-error.ts';

const TEXTS = { begins: 'begins', lasts: 'lasts', ends: 'ends' };
let now = 0;
let lines: [string, Record<string, unknown>][] = [];
let log: FailureLog;

const blocked = () => new UpstreamError('refused', 'the forum answered 403', { status: 403, reason: 'blocked' });
const texts = () => lines.map(([text]) => text);

beforeEach(() => {
  now = 1_000_000;
  lines = [];
  const note = (fields: object, text: string) => void lines.push([text, fields as Record<string, unknown>]);
  log = new FailureLog(TEXTS, { logger: { warn: note, info: note, debug: () => undefined }, clock: () => now });
});

/** All sources fail again and again. */
function failFor(seconds: number, sources: readonly string[], error: () => Error): void {
  for (let second = 0; second < seconds; second++) {
    for (const source of sources) log.failed(source, error());
    now += 1_000;
  }
}

test('an outage that many sources meet has one line, one a minute, and one at its end', () => {
  failFor(300, ['a', 'b', 'c'], blocked);
  expect(texts()).toEqual(['begins', 'lasts', 'lasts', 'lasts', 'lasts']);
  expect(lines[0]![1]).toMatchObject({ source: 'a', failure: 'refused', status: 403, reason: 'blocked' });
  expect(lines[1]![1]).toMatchObject({ sources: ['a', 'b', 'c'], seconds: 60 });
  for (const source of ['a', 'b']) log.succeeded(source);
  now += 60_000;
  log.succeeded('a');
  // The third has not succeeded yet.
  expect(texts()).toHaveLength(5);
  log.succeeded('c');
  expect(lines.slice(5)).toEqual([['ends', { sources: ['a', 'b', 'c'], seconds: 299 }]]);
});
