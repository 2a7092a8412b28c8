import { describe, expect, test } from 'vitest';
import {
  identifyThing,
  postIdOfUnreadable,
  readThingLetter,
  toThingLetter,
} from '../../../../shared/upstream/thing-letter.ts';
import { COMMENT, POST } from '../../../support/samples/forum-things.ts';

const SITE = 'https://forum.example';
const FAULT = { path: 'data.body', message: 'expected string' };
const SIGHT = { source: 'threads', firstSeenAt: 1767225661000, post: { title: 'Which kettle', nsfw: true } };

function letterOf(raw: unknown, sight: typeof SIGHT | (Omit<typeof SIGHT, 'post'> & { post: undefined }) = SIGHT) {
  const thing = identifyThing(raw);
  if (!thing) throw new Error('is no thing');
  const { topic, record } = toThingLetter(thing, FAULT, sight);
  return { topic, key: record.key, value: Buffer.from(record.value), headers: record.headers ?? {} };
}

describe('what an unreadable thing is', () => {
  test.each<[string, unknown, { kind: string; name: string | undefined } | undefined]>([
    [
      'a comment whose body is a number',
      { kind: 't1', data: { ...COMMENT, body: 7 } },
      { kind: 't1', name: 't1_zzzzzzzzzzzz9' },
    ],
    ['a post without an id, with a name', { kind: 't3', data: { name: 't3_abc' } }, { kind: 't3', name: 't3_abc' }],
    ['a thing without a kind', { data: { name: 't1_abc' } }, { kind: 't1', name: 't1_abc' }],
    ['a comment whose id is no id', { kind: 't1', data: { id: 'a/b' } }, { kind: 't1', name: undefined }],
    ['a comment without data', { kind: 't1' }, { kind: 't1', name: undefined }],
    ['another kind', { kind: 'more', data: { id: 'abc', name: 't1_abc' } }, undefined],
    ['a number', 7, undefined],
    ['nothing', null, undefined],
  ])('%s', (_, raw, expected) => {
    expect(identifyThing(raw)).toEqual(expected && { ...expected, raw });
  });

  test('a comment says its post if it can', () => {
    expect(postIdOfUnreadable(identifyThing({ kind: 't1', data: COMMENT })!)).toBe(POST.id);
    expect(postIdOfUnreadable(identifyThing({ kind: 't1', data: { link_id: 7 } })!)).toBeUndefined();
    expect(postIdOfUnreadable(identifyThing({ kind: 't1' })!)).toBeUndefined();
  });
});

describe('the letter of an unreadable thing', () => {
  test('goes to the topic of its kind under its name, with source, time, path and the raw thing', () => {
    const raw = { kind: 't1', data: { ...COMMENT, body: 7 } };
    const letter = letterOf(raw);
    expect(letter).toMatchObject({ topic: 'forum.comments', key: 't1_zzzzzzzzzzzz9' });
    expect(JSON.parse(letter.value.toString())).toEqual(raw);
    expect(letter.headers).toMatchObject({
      'dead-letter-topic': 'forum.comments',
      'dead-letter-step': 'shape',
      'dead-letter-source': 'threads',
      'dead-letter-timestamp': '1767225661000',
      'dead-letter-reason': 'data.body: expected string',
    });
    expect(letterOf({ kind: 't3', data: {} })).toMatchObject({ topic: 'forum.posts', key: 't3_' });
  });

  test('keeps only the beginning of a huge thing, which no replay can read', () => {
    const letter = letterOf({ kind: 't1', data: { ...COMMENT, body: 'x'.repeat(400_000) } });
    expect(letter.value.length).toBe(256 * 1024);
    const read = readThingLetter(letter, SITE);
    expect(read.outcome === 'unreadable' && read.reason).toMatch(/only the first 262144 of 400\d\d\d bytes are kept/);
  });
});
