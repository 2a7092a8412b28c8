import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  printGroupLine,
  readGroupLine,
  readGroupLines,
  readTermLines,
} from '../../../../../../services/api/dashboard/monitors/rule-lines.ts';
import type { TermGroup } from '../../../../../../services/api/dashboard/monitors/rule-lines.ts';

test.each<[string, TermGroup]>([
  ['hiring', ['hiring']],
  ['"now hiring" OR job*', ['now hiring', { text: 'job', prefix: true }]],
  ['job* OR hiring', [{ text: 'job', prefix: true }, 'hiring']],
  ['=Go', [{ text: 'Go', caseSensitive: true }]],
  ['title,post_title:=Rust*', [{ text: 'Rust', prefix: true, caseSensitive: true, in: ['title', 'post_title'] }]],
  ['term:rust', [{ text: 'rust' }]],
])('the line %s is a group', (line, group) => {
  expect(readGroupLine(line)).toEqual({ group });
  expect(printGroupLine(group)).toBe(line);
});

test.each([
  ['now hiring', 'write OR or AND before this, or quotes around a phrase of several words'],
  ['a) AND (b', 'a line has only terms, with OR between them'],
  ['a) sub:rust AND (b', expect.any(String) as string],
  ['a) nsfw:yes in:title lang:de AND (b', expect.any(String) as string],
  ['sub:rust', expect.stringContaining('parentheses hold only terms') as string],
  ['', 'there is nothing in the parentheses'],
])('the line %j is refused', (line, message) => {
  expect(readGroupLine(line)).toEqual({ message });
});

test('what was printed is read as the same group', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((any) => any.trim() !== '' && !any.includes('\0'));
  const object = fc
    .record({ prefix: fc.boolean(), caseSensitive: fc.boolean(), inTitle: fc.boolean(), text })
    .map(({ prefix, caseSensitive, inTitle, ...term }) => ({
      ...term,
      ...(prefix && { prefix }),
      ...(caseSensitive && { caseSensitive }),
      ...(inTitle && { in: ['title' as const] }),
    }));
  fc.assert(
    fc.property(fc.array(fc.oneof(text, object), { minLength: 1, maxLength: 5 }), (group) => {
      expect(readGroupLine(printGroupLine(group))).toEqual({ group });
    }),
  );
});

test('lines beyond those of a rule are not read', () => {
  const unreadable = Array.from({ length: 50_000 }, () => '(');
  expect(readTermLines('terms', unreadable)).toEqual({
    terms: [],
    faults: [{ field: 'terms', message: 'must have at most 20 terms' }],
  });
  expect(readGroupLines('require', unreadable.slice(0, 6))).toEqual({
    groups: [],
    faults: [{ field: 'require', message: 'must have at most 5 groups' }],
  });
  expect(readGroupLines('require', unreadable.slice(0, 5)).faults).toHaveLength(5);
});
