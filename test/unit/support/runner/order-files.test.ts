import { existsSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { orderFiles } from '../../../support/runner/order-files.ts';
import type { TimedFile } from '../../../support/runner/order-files.ts';
import { SECONDS_OF_SLOW_FILES } from '../../../support/runner/slow-files.ts';

const file = (path: string, seconds: number, needsSlot = false): TimedFile => ({ path, seconds, needsSlot });
const paths = (files: readonly TimedFile[]): string[] => files.map(({ path }) => path);

describe('the order in which test files start', () => {
  test('is the longest first, and by path among equals', () => {
    const ordered = orderFiles([file('b', 1), file('a', 1), file('c', 5)], { workers: 2, slots: 1 });
    expect(paths(ordered)).toEqual(['c', 'a', 'b']);
  });

  test('starts a file that needs a slot when one is expected to be free', () => {
    const files = [file('e1', 30, true), file('e2', 20, true), ...[12, 11, 10, 9, 8].map((s) => file(`f${s}`, s))];
    // Two workers, one slot: e1 runs until 30; f12, f11 and f10 fill the other worker until 33.
    expect(paths(orderFiles(files, { workers: 2, slots: 1 }))).toEqual(['e1', 'f12', 'f11', 'f10', 'e2', 'f9', 'f8']);
    // Three workers, two slots: e1 and e2 run until 30 and 20; then e3 has the slot of e2.
    const more = [...files, file('e3', 5, true)];
    const ordered = ['e1', 'e2', 'f12', 'f11', 'e3', 'f10', 'f9', 'f8'];
    expect(paths(orderFiles(more, { workers: 3, slots: 2 }))).toEqual(ordered);
  });

  test('holds every file once, whatever their lengths and the number of workers', () => {
    const arbitrary = fc.record({ path: fc.string(), seconds: fc.nat(100), needsSlot: fc.boolean() });
    const count = fc.integer({ min: 1, max: 5 });
    fc.assert(
      fc.property(fc.array(arbitrary), count, count, (files, workers, slots) => {
        const ordered = orderFiles(files, { workers, slots });
        expect(ordered).toHaveLength(files.length);
        expect(new Set(ordered)).toEqual(new Set(files));
      }),
    );
  });

  test('knows only files that exist', () => {
    const root = `${import.meta.dirname}/../../../..`;
    expect(Object.keys(SECONDS_OF_SLOW_FILES).filter((path) => !existsSync(`${root}/${path}`))).toEqual([]);
  });
});
