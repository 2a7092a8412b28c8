import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonInPieces } from '../../../../../services/api/http/json-in-pieces.ts';
import { CooperativeYield } from '../../../../../shared/runtime/cooperative-yield.ts';

test('writes what JSON.stringify writes, wherever the list stands', async () => {
  const value = fc.jsonValue();
  const members = fc.array(fc.tuple(fc.string(), fc.option(value, { nil: undefined })));
  await fc.assert(
    fc.asyncProperty(members, fc.array(value), members, async (before, items, after) => {
      const body = Object.fromEntries([...before, ['items', items], ...after.filter(([name]) => name !== 'items')]);
      expect((await jsonInPieces(body, 'items')).toString()).toBe(JSON.stringify(body).toWellFormed());
    }),
  );
  expect((await jsonInPieces({}, 'items')).toString()).toBe('{}');
});

test('lets the event loop turn between items', async () => {
  let turns = 0;
  const done = new AbortController();
  const counting = (async () => {
    for (; !done.signal.aborted; turns++) await setImmediate();
  })();
  await jsonInPieces({ items: Array.from({ length: 50 }, () => 'x') }, 'items', new CooperativeYield(0));
  done.abort();
  await counting;
  expect(turns).toBeGreaterThanOrEqual(50);
});
