import { describe, expect, test } from 'vitest';
import type { MonitorMatch } from '../../../../../../schemas/messages/monitor-match.ts';
import { highlightsOf, markedExcerpt, markedText } from '../../../../../../services/api/dashboard/monitors/matches.ts';

describe('marked text', () => {
  test.each([
    ['no range', 'a <b> & "c"', [], 'a &lt;b&gt; &amp; &quot;c&quot;'],
    ['markup in and around a mark', '<i>x</i>', [{ start: 1, end: 4 }], '&lt;<mark>i&gt;x</mark>&lt;/i&gt;'],
    [
      'ranges in any order, overlapping and within each other',
      'abcdefgh',
      [
        { start: 5, end: 7 },
        { start: 0, end: 3 },
        { start: 1, end: 2 },
        { start: 2, end: 4 },
      ],
      '<mark>abc</mark><mark>d</mark>e<mark>fg</mark>h',
    ],
  ])('%s', (_, text, ranges, expected) => {
    expect(String(markedText(text, ranges))).toBe(expected);
  });

  test('an excerpt shows the first mark and cuts no character in two', () => {
    const text = `${'🦀'.repeat(300)}rust${'🦀'.repeat(300)}`;
    const excerpt = String(markedExcerpt(text, [{ start: 600, end: 604 }]));
    expect(excerpt).toMatch(/^… (?:🦀){40}<mark>rust<\/mark>(?:🦀)+ …$/u);
    expect(excerpt.isWellFormed()).toBe(true);
    expect(String(markedExcerpt(`a${text}`, [{ start: 601, end: 605 }])).isWellFormed()).toBe(true);
    expect(String(markedExcerpt('x'.repeat(1000), []))).toBe(`${'x'.repeat(300)} …`);
    expect(String(markedExcerpt('short', [{ start: 0, end: 5 }]))).toBe('<mark>short</mark>');
    expect(String(markedExcerpt('x'.repeat(500), [{ start: 0, end: 450 }]))).toBe(`<mark>${'x'.repeat(300)}</mark> …`);
  });
});

const MATCH: MonitorMatch = {
  id: 'mat_x_000000000001',
  monitor_id: 'mon_x',
  thing_id: 't1_a',
  kind: 'comment',
  subreddit: 'jobs',
  author: 'ana',
  title: 'Hiring: Rust',
  body: 'We write RUST, not iron. Rusty!',
  permalink: 'https://example.com/',
  post_id: 'p',
  created_utc: '2026-01-01T00:00:00.000Z',
  matched_terms: ['rust'],
  suppressed: false,
  delivery_status: 'none',
  created_at: '2026-01-01T00:00:00.000Z',
};

test('marks the terms of the match, in the title of a comment only those that the comment has not', () => {
  const [title, body] = [[{ start: 8, end: 12 }], [{ start: 9, end: 13 }]];
  expect(highlightsOf(MATCH)).toMatchObject({ title: [], body });
  expect(highlightsOf({ ...MATCH, body: 'Yes!' })).toMatchObject({ title, body: [] });
  expect(highlightsOf({ ...MATCH, kind: 'post' })).toMatchObject({ title, body });
});
