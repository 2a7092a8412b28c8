import { describe, expect, test } from 'vitest';
import { ruleWarnings } from '../../../../../services/api/monitors/rule-warnings.ts';
import type { MatchItem, Rule } from '../../../../../shared/matching/rule.ts';

const RULE: Rule = { keywords: ['rust'], exclude: [], subreddits: [], posts: true, comments: true, nsfw: false };
const CONSEQUENCE = 'matches beyond the daily cap are suppressed, and at most 10,000 of those a day are stored.';

/** The warnings without the archive, unless given. */
function warn(rule: Partial<Rule>, sample: MatchItem[] = [], suppressedPerDay = 10_000) {
  return ruleWarnings({ ...RULE, ...rule }, { sample, suppressedPerDay });
}
const codes = (rule: Partial<Rule>, sample?: MatchItem[]) =>
  warn(rule, sample).map(({ field, code }) => `${field} ${code}`);

describe('warnings about a rule', () => {
  test('are absent for an ordinary rule', () => {
    expect(warn({ keywords: ['rust', 'C++', 'new york', '"rust"'], exclude: ['trust fund'] })).toEqual([]);
  });

  test('name the keyword that an excluded term rules out', () => {
    expect(warn({ keywords: ['coffee', 'new york'], exclude: ['york'] })).toEqual([
      {
        field: 'keywords[1]',
        code: 'keyword_excluded',
        message: '"new york" never matches: every text that contains it contains the excluded term "york".',
      },
    ]);
  });

  test('point out syntax in keywords and in excluded terms', () => {
    expect(
      codes({ keywords: ['rust OR go', 'title:rust', 'rust*', '"new york"'], exclude: ['a OR b', 'game*'] }),
    ).toEqual([
      'keywords[0] search_operator',
      'keywords[1] field_prefix',
      'keywords[2] wildcard',
      'keywords[3] quotes_ignored',
      'exclude[0] search_operator',
      'exclude[1] wildcard',
    ]);
    expect(warn({ keywords: ['rust OR go'] })[0]!.message).toBe(
      '"rust OR go" matches only text with all of it in this order, "OR" included: terms have no operators. Each term of the list counts by itself: send alternatives as separate terms.',
    );
    expect(warn({ keywords: ['rust NOT game'] })[0]!.message).toContain('"exclude"');
    expect(warn({ keywords: ['rust AND game'] })[0]!.message).toContain('"require"');
  });

  test('point from keywords to "terms", which excluded terms do not have', () => {
    const messages = warn({ keywords: ['rust*', 'title:rust'], exclude: ['game*', 'title:game'] });
    expect(messages.map(({ message }) => message)).toEqual([
      '"rust*" matches only text with the asterisk: keywords have no wildcards. For all words that begin so, send it in "terms" without the asterisk and with "prefix": true.',
      '"title:rust" matches only text that contains it with "title:": keywords have no prefixes for fields. Send it in "terms", whose "in" says where it counts.',
      '"game*" matches only text with the asterisk: excluded terms have no wildcards. Send each form of the word as a separate term.',
      '"title:game" matches only text that contains it with "title:": excluded terms count in all texts.',
    ]);
  });

  test('say that nothing is watched, and then nothing about common words', () => {
    expect(codes({ keywords: ['the'], posts: false, comments: false })).toEqual(['posts nothing_watched']);
  });
});

describe('warnings about terms with conditions', () => {
  test('are those of keywords, at their own place', () => {
    const rule: Partial<Rule> = {
      keywords: [],
      terms: [
        { text: 'new york', in: ['title'] },
        { text: 'york', prefix: true },
        { text: 'rust OR go' },
        { text: 'job*' },
      ],
      require: [['"a phrase"', { text: 'title:rust' }]],
      exclude: ['york'],
    };
    expect(codes(rule)).toEqual([
      'terms[0].text keyword_excluded',
      'terms[2].text search_operator',
      'terms[3].text wildcard',
      'require[0][0] quotes_ignored',
      'require[0][1].text field_prefix',
    ]);
    expect(warn({ keywords: [], terms: [{ text: 'job*' }] })[0]!.message).toContain('"prefix": true');
    expect(warn({ keywords: [], terms: [{ text: 'title:job' }] })[0]!.message).toContain('"in"');
  });

  test('name texts that the watched kinds do not have', () => {
    const never = (rule: Partial<Rule>) => warn(rule).filter(({ code }) => code === 'text_not_watched');
    expect(never({ comments: false, terms: [{ text: 'go', in: ['post_title'] }] })).toEqual([
      {
        field: 'terms[0].text',
        code: 'text_not_watched',
        message: '"go" never matches: it counts only in post_title, which posts do not have.',
      },
    ]);
    expect(never({ posts: false, matchIn: ['title'], terms: [{ text: 'go', in: ['body'] }] })).toMatchObject([
      { field: 'keywords[0]' },
    ]);
    expect(never({ posts: false, require: [[{ text: 'go', in: ['title'] }]] })).toMatchObject([
      { field: 'require[0][0].text' },
    ]);
    expect(never({ matchIn: ['post_title'], terms: [{ text: 'go', in: ['title'] }] })).toEqual([]);
    expect(never({ posts: false, comments: false, matchIn: ['title'] })).toEqual([]);
  });

  test('say that a term is common only where the list or the archive knows', () => {
    const common = (rule: Partial<Rule>, sample?: MatchItem[]) =>
      codes(rule, sample).filter((warning) => warning.endsWith('common_word'));
    expect(common({ terms: [{ text: 'the' }] })).toEqual(['terms[0].text common_word']);
    expect(
      common({
        terms: [
          { text: 'the', caseSensitive: true },
          { text: 'the', in: ['title'] },
        ],
      }),
    ).toEqual([]);
    expect(common({ terms: [{ text: 'the' }], matchIn: ['title'] })).toEqual([]);
    expect(common({ keywords: ['the'], require: [['rust']] })).toEqual([]);
    expect(common({ keywords: ['the'], authors: ['ana'] })).toEqual([]);
    const item = { kind: 'post' as const, title: 'Rusty', text: 'IT', subreddit: 'a', nsfw: false };
    const sample = Array.from({ length: 200 }, () => item);
    const terms = [
      { text: 'rust', prefix: true },
      { text: 'it', caseSensitive: true },
      { text: 'IT', caseSensitive: true },
    ];
    expect(common({ terms }, sample)).toEqual(['terms[0].text common_word', 'terms[2].text common_word']);
  });

  test('count only what languages and authors let through', () => {
    const found = (rule: Partial<Rule>, sample: MatchItem[]) =>
      warn({ keywords: ['rust'], ...rule }, sample).filter(({ code }) => code === 'common_word').length;
    const item = { kind: 'comment' as const, title: '', subreddit: 'a', nsfw: false };
    // "rust" is in every German item and in no English one.
    const sample = Array.from({ length: 400 }, (_, n): MatchItem =>
      n % 2 === 0
        ? { ...item, text: 'rust', language: 'de', author: 'Bot' }
        : { ...item, text: 'go', language: 'en', author: 'ana' },
    );
    expect(found({}, sample)).toBe(1);
    expect(found({ languages: ['de'] }, sample)).toBe(1);
    expect(found({ languages: ['en'] }, sample)).toBe(0);
    expect(found({ excludeAuthors: ['bot'] }, sample)).toBe(0);
  });
});

describe('common keywords without the archive', () => {
  test('get a sentence each, as written', () => {
    expect(warn({ keywords: ['rust', 'The', 'to be', 'borrow checker'] })).toEqual([
      {
        field: 'keywords[1]',
        code: 'common_word',
        message: `"The" is in about 40 % of all items: ${CONSEQUENCE}`,
      },
      {
        field: 'keywords[2]',
        code: 'common_word',
        message: `"to be" consists of very common words only: ${CONSEQUENCE}`,
      },
    ]);
  });

  test('name the ceiling of the installation', () => {
    expect(warn({ keywords: ['the'] }, [], 250)[0]!.message).toContain('at most 250 of those');
  });

  test('are not pointed out for a monitor of some communities', () => {
    expect(warn({ keywords: ['the'], subreddits: ['rust'] }, sampleOf(200, 'the'))).toEqual([]);
  });
});

describe('common keywords with the archive', () => {
  test('have the share of the items that the monitor watches', () => {
    const posts = Array.from({ length: 50 }, (): MatchItem => ({ ...ITEM, kind: 'post', title: 'banana', text: '' }));
    const sample = [...sampleOf(120, 'a Banana split'), ...sampleOf(80, 'tea'), ...posts];
    const message = (rule: Partial<Rule>) => warn({ keywords: ['banana'], ...rule }, sample)[0]!.message;
    expect(message({})).toBe(`"banana" is in about 68 % of the 250 items that the archive got last: ${CONSEQUENCE}`);
    expect(message({ posts: false })).toContain('about 60 % of the 200 items');
    // The share is that of the keyword, not of the rule.
    expect(message({ exclude: ['split'] })).toContain('about 68 %');
  });

  test('begin at a tenth of the items; words of the list at a fiftieth', () => {
    const sample = [
      ...sampleOf(9, 'topic the'),
      ...sampleOf(10, 'frequent'),
      ...sampleOf(1, 'don’t'),
      ...sampleOf(80, '.'),
    ];
    expect(codes({ keywords: ['topic', 'frequent', 'the', "don't", 'with'] }, sample)).toEqual([
      'keywords[1] common_word',
      'keywords[2] common_word',
    ]);
  });

  test('are judged by the list while the archive has few items', () => {
    expect(codes({ keywords: ['banana', 'the'] }, sampleOf(99, 'banana'))).toEqual(['keywords[1] common_word']);
  });
});

const ITEM: MatchItem = { kind: 'comment', title: '', text: '', subreddit: 'a', nsfw: false };

function sampleOf(count: number, text: string): MatchItem[] {
  return Array.from({ length: count }, () => ({ ...ITEM, text }));
}
