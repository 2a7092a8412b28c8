import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readEmitted } from '../../../support/clients/emitted-items.ts';

const folder = mkdtempSync(join(tmpdir(), 'forum-test-emitted-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const line = (name: string): string => `${JSON.stringify({ name })}\n`;
const names = (log: string): string[] => readEmitted(log).map(({ name }) => name);

test('each call reads what was appended since the last one, without a line that is not complete yet', () => {
  const [log, other] = [join(folder, 'one.jsonl'), join(folder, 'other.jsonl')];
  appendFileSync(log, line('t3_größe'));
  appendFileSync(other, line('t1_other'));
  expect(names(log)).toEqual(['t3_größe']);
  appendFileSync(log, line('t3_b').slice(0, 5));
  expect(names(log)).toEqual(['t3_größe']);
  appendFileSync(log, line('t3_b').slice(5) + line('t3_c'));
  expect(names(log)).toEqual(['t3_größe', 't3_b', 't3_c']);
  expect(names(other)).toEqual(['t1_other']);
});

test('a caller may change the list that it gets', () => {
  const log = join(folder, 'changed.jsonl');
  appendFileSync(log, line('t3_a'));
  readEmitted(log).length = 0;
  expect(names(log)).toEqual(['t3_a']);
});
