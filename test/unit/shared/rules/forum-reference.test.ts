import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { forumHosts, parseReference } from '../../../../shared/rules/forum-reference.ts';

const HOSTS = forumHosts('https://www.reddit.com');
const parse = (text: string) => parseReference(text, HOSTS);
const post = (postId: string) => ({ kind: 'post', postId, commentId: undefined });
const comment = (postId: string | undefined, commentId: string) => ({ kind: 'comment', postId, commentId });

describe('parseReference', () => {
  test.each([
    ['abc123', post('abc123')],
    ['t3_abc123', post('abc123')],
    ['T3_ABC123', post('abc123')],
    ['t1_zzzzzzzzzzzzz', comment(undefined, 'zzzzzzzzzzzzz')],
    ['https://www.reddit.com/r/rust/comments/abc123/a_title/', post('abc123')],
    ['http://old.reddit.com/r/rust/comments/abc123/a_title/?sort=new#x', post('abc123')],
    ['reddit.com/r/rust/comments/abc123/_/def456/', comment('abc123', 'def456')],
    ['https://np.reddit.com/comments/abc123/slug/def456?context=3', comment('abc123', 'def456')],
    ['https://www.reddit.com/r/rust/comments/abc123//def456/', comment('abc123', 'def456')],
    ['https://new.reddit.com/user/someone/comments/abc123/title/', post('abc123')],
    ['https://m.reddit.com/u/someone/comments/abc123/title/def456', comment('abc123', 'def456')],
    ['https://sh.reddit.com/gallery/abc123', post('abc123')],
    ['https://amp.reddit.com/tb/abc123', post('abc123')],
    ['https://WWW.REDDIT.COM/r/a/comments/abc123/', post('abc123')],
    ['https://redd.it/abc123', post('abc123')],
    ['https://www.reddit.com/r/rust/comments/abc123.json', post('abc123')],
    ['https://www.reddit.com/r/rust/comments/abc123/a_title/.json', post('abc123')],
    ['https://old.reddit.com/r/rust/comments/abc123/a_title/.rss', post('abc123')],
    ['https://www.reddit.com/r/rust/comments/abc123/_/def456.JSON/', comment('abc123', 'def456')],
    ['https://www.reddit.com/r/rust/s/AbC123xyZ', { kind: 'share', path: '/r/rust/s/AbC123xyZ' }],
    ['https://www.reddit.com/u/me/s/AbC123xyZ?utm=1', { kind: 'share', path: '/u/me/s/AbC123xyZ' }],
  ])('%s', (text, expected) => {
    expect(parse(text)).toEqual(expected);
  });

  test.each([
    '',
    'abcdefghijklmn',
    't5_abc',
    'https://evil.example/comments/abc123',
    'https://reddit.com.evil.example/comments/abc123',
    'https://evilreddit.com/comments/abc123',
    'https://user:pass@www.reddit.com/comments/abc123',
    'https://www.reddit.com/r/rust',
    'https://www.reddit.com/r/rust/comments/',
    'https://www.reddit.com/r/rust/comments/abc-123',
    'https://www.reddit.com/r/rust/comments/abc123/slug/def%20456',
    'https://www.reddit.com/r/rust/s/',
    'https://www.reddit.com/r/rust/s/a/b',
    'ftp://www.reddit.com/comments/abc123',
    'javascript:alert(1)',
    `https://www.reddit.com/comments/abc?${'x'.repeat(3000)}`,
  ])('refuses %s', (text) => {
    expect(parse(text)).toBeUndefined();
  });

  test('takes any text without an exception, and finds ids of letters and digits only', () => {
    const parts = fc.constantFrom(
      ...['https://', 'www.', 'reddit.com', 'redd.it', '/', 'comments', 'r', 's', 'abc', 't3_'],
      ...['../../..', '%2f', '@', ':', '?', '#', '\\', ' '],
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(parts, { maxLength: 12 }).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(text, (given) => {
        const found = parse(given);
        if (found === undefined) return;
        if (found.kind === 'share') expect(found.path).toMatch(/^\/(r|u|user)\/[^/]*\/s\/[0-9A-Za-z]{1,64}$/);
        else for (const id of [found.postId ?? 'a', found.commentId ?? 'a']) expect(id).toMatch(/^[0-9a-z]{1,13}$/);
      }),
      { numRuns: 500 },
    );
  });
});
