import { expect, test } from 'vitest';
import type { PreviewAnswer } from '../../../../../../schemas/api/rules.ts';
import { trialParts } from '../../../../../../services/api/dashboard/monitors/try-panel.ts';
import type { PageRequest } from '../../../../../../services/api/dashboard/page.ts';

const NOW = Date.parse('2026-03-08T12:00:00Z');
const PREVIEW: PreviewAnswer = {
  total: 0,
  exact: true,
  exact_from: '2026-03-01T12:00:00.000Z',
  archive_from: '2026-01-01T00:00:00.000Z',
  by_day: [],
  by_keyword: [],
  by_subreddit: [],
  samples: [],
  capped_days: [],
  credits_per_30_days: 300,
  warnings: [],
  suggestions: [],
};

/** The main line as text, for an account with a pack. */
function line(preview: Partial<PreviewAnswer>, pack = 0, hasMutes = false): string {
  const request = { now: NOW, account: { pack } } as unknown as PageRequest;
  const markup = String(trialParts(request, { preview: { ...PREVIEW, ...preview }, hasMutes }));
  const [, shown = ''] = /role="status">([^]*?)<\/div>/.exec(markup) ?? [];
  return shown
    .replace(/<strong class="bad">(.+?)<\/strong>/, '!$1!')
    .replace(/<[^>]+>/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

test.each([
  ['fewer than one a day', 6, 0, ', fewer than one a day.'],
  ['a third of what is sent says nothing of it', 462, 0, ', about 66 a day.'],
  ['more than a third', 469, 0, ', about 67 a day; at most 200 a day are sent.'],
  ['as much as is sent', 1_400, 0, ', about 200 a day; at most 200 a day are sent.'],
  ['more is a warning', 1_407, 0, ', about 201 a day; !at most 200 a day are sent!.'],
  ['with a pack', 4_592, 9, ', about 656 a day; at most 1,000 a day are sent.'],
])('the rate: %s', (_, total, pack, expected) => {
  expect(line({ total }, pack)).toContain(`matches since 2026-03-01 12:00 UTC${expected} Costs`);
});

test.each([
  [0, '0.54'],
  [9, '0.54'],
  [29, '0.43'],
  [79, '0.34'],
])('with a pack of $%i, 300 credits cost about $%s', (pack, dollars) => {
  expect(line({}, pack)).toBe(
    `0 matches since 2026-03-01 12:00 UTC. Costs 300 credits in 30 days (about $${dollars}).`,
  );
  expect(line({ archive_from: null }, pack)).toContain(`still empty, so there is nothing to count. Costs 300 credits`);
});

test('the counts of a monitor with mutes are named so', () => {
  expect(line({ total: 1 }, 0, true)).toContain('1 match before its mutes since');
});

test('days of the archive without a match have a bar of none', () => {
  const preview = {
    ...PREVIEW,
    total: 5,
    by_day: [{ day: '2026-03-04', count: 5 }],
    archive_from: '2026-03-03T23:00:00.000Z',
  };
  const markup = String(trialParts({ now: NOW, account: { pack: 0 } } as unknown as PageRequest, { preview }));
  const days = Array.from(markup.matchAll(/<title>(.+?)<\/title>/g), ([, text]) => text);
  expect(days).toEqual(['3 Mar: 0 matches', '4 Mar: 5 matches', ...[5, 6, 7, 8].map((day) => `${day} Mar: 0 matches`)]);
});
