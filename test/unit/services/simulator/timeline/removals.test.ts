import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Removals } from '../../../../../services/simulator/timeline/removals.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'simulator-removals-'));
});

afterEach(() => rmSync(directory, { recursive: true }));

test('removed items stay removed after a start that finds an incomplete last line', () => {
  const removals = Removals.open(directory);
  removals.add(5, 'removed');
  removals.add(9, 'deleted');
  appendFileSync(join(directory, 'simulator-removed.jsonl'), '\n{"k":11,"ho');
  const reopened = Removals.open(directory);
  reopened.add(12, 'deleted');
  const again = Removals.open(directory);
  expect([5, 9, 11, 12, 13].map((k) => again.of(k))).toEqual(['removed', 'deleted', undefined, 'deleted', undefined]);
});
