import { expect, test } from 'vitest';
import { identifyItem, readItemLetter, toItemLetter } from '../../../../shared/forum-client/malformed-item.ts';
import { COMMENT } from '../../../support/samples/forum-things.ts';

test.each<[string, unknown, { kind: string; name: string | undefined } | undefined]>([
  [
    'a comment whose body is a number',
    { kind: 't1', data: { ...COMMENT, body: 7 } },
    { kind: 't1', name: 't1_zzzzzzzzzzzz9' },
  ],
  ['a post without an id, with a name', { kind: 't3', data: { name: 't3_abc' } }, { kind: 't3', name: 't3_abc' }],
  ['an item without a kind', { data: { name: 't1_abc' } }, { kind: 't1', name: 't1_abc' }],
  ['a comment whose id is no id', { kind: 't1', data: { id: 'a/b' } }, { kind: 't1', name: undefined }],
  ['a comment without data', { kind: 't1' }, { kind: 't1', name: undefined }],
  ['another kind', { kind: 'more', data: { id: 'abc', name: 't1_abc' } }, undefined],
  ['a number', 7, undefined],
  ['nothing', null, undefined],
])('what a malformed item is: %s', (_, raw, expected) => {
  expect(identifyItem(raw)).toEqual(expected && { ...expected, raw });
});

test('a letter keeps only the beginning of a huge item, which no replay can read', () => {
  const thing = identifyItem({ kind: 't1', data: { ...COMMENT, body: 'x'.repeat(400_000) } })!;
  const fault = { path: 'data.body', message: 'expected string' };
  const { record } = toItemLetter(thing, fault, { source: 'threads', firstSeenAt: 1767225661000, post: undefined });
  const letter = { key: record.key, value: Buffer.from(record.value), headers: record.headers ?? {} };
  expect(letter.value.length).toBe(256 * 1024);
  const read = readItemLetter(letter, 'https://forum.example');
  expect(read.outcome === 'malformed' && read.reason).toMatch(/only the first 262144 of 400\d\d\d bytes are kept/);
});
