import { existsSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { orderFiles } from '../../../support/runner/order-files.ts';
import type { TimedFile } from '../../../support/runner/order-files.ts';
import { SECONDS_OF_SLOW_FILES } from '../../../support/runner/slow-files.ts';

const file = (path: string, seconds: number, isExclusive = false): TimedFile => ({ path, seconds, isExclusive });
const paths = (files: readonly TimedFile[]): string[] => files.map(({ path }) => path);

describe('the order in which test files start', () => {
  test('is the longest first, and by path among equals', () => {
    const ordered = orderFiles([file('b', 1), file('a', 1), file('c', 5)], 2);
    expect(paths(ordered)).toEqual(['c', 'a', 'b']);
  });

  test('starts an exclusive file when the one before it is expected to have ended', () => {
    const files = [file('e1', 30, true), file('e2', 20, true), ...[12, 11, 10, 9, 8].map((s) => file(`f${s}`, s))];
    // Two workers: e1 runs until 30; f12, f11 and f10 fill the other one until 33.
    expect(paths(orderFiles(files, 2))).toEqual(['e1', 'f12', 'f11', 'f10', 'e2', 'f9', 'f8']);
  });

  test('holds every file once, whatever their lengths and the number of workers', () => {
    const arbitrary = fc.record({ path: fc.string(), seconds: fc.nat(100), isExclusive: fc.boolean() });
    fc.assert(
      fc.property(fc.array(arbitrary), fc.integer({ min: 1, max: 5 }), (files, workers) => {
        const ordered = orderFiles(files, workers);
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
