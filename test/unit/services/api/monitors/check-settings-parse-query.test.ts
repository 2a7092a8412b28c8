import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMonitorBody } from '../../../../../schemas/api/monitors.ts';
import { checkNewRule, parseQuery, ruleSettingsResource } from '../../../../../services/api/monitors/check-settings.ts';
import { MAX_QUERY_LENGTH } from '../../../../../shared/monitors/rules/parse-rule-query.ts';
import { printRuleQuery } from '../../../../../shared/monitors/rules/print-rule-query.ts';
import type { RuleSettings } from '../../../../../shared/monitors/rules/print-rule-query.ts';
import { validSettings } from '../../../../support/samples/rule-settings-arbitraries.ts';

/** The settings as POST /v1/monitors stores them. */
function stored(settings: RuleSettings): RuleSettings {
  const body = createMonitorBody.parse({ name: 'x', ...ruleSettingsResource(settings) });
  const { rule, faults } = checkNewRule(body);
  expect(faults).toEqual([]);
  const { refinements, ...lists } = rule;
  const { posts, comments, nsfw, thread_once: threadOnce } = body;
  return { ...lists, posts, comments, nsfw, ...refinements, threadOnce: threadOnce ?? false };
}

test('valid settings, printed and read, are the settings that are stored', () => {
  fc.assert(
    fc.property(validSettings, (settings) => {
      const whole = stored(settings);
      expect(parseQuery(printRuleQuery(whole))).toEqual({ settings: whole });
      // Also before they are in the form that is stored.
      expect(parseQuery(printRuleQuery(settings))).toEqual({ settings: whole });
    }),
    { numRuns: 300 },
  );
});

test('the longest rule can be written', () => {
  // 100 characters of two code units, and 100 that need a backslash. Each term differs from the others.
  const texts = Array.from({ length: 20 }, (_, at) => String.fromCodePoint(0x10428 + at) + '𐐨'.repeat(98) + '"');
  const quotes = texts.map((text) => `${text.slice(0, 4)}${'"'.repeat(97)}x`);
  const terms = texts.map((text) => ({
    text,
    caseSensitive: true,
    in: ['title', 'body', 'post_title'] as const,
  }));
  const names = (start: string) => Array.from({ length: 50 }, (_, at) => `${start}${'x'.repeat(16)}${10 + at}`);
  const settings: RuleSettings = {
    keywords: [],
    exclude: quotes,
    subreddits: names('u_'),
    posts: false,
    comments: false,
    nsfw: true,
    terms,
    require: Array.from({ length: 5 }, () => terms),
    matchIn: ['title', 'body', 'post_title'],
    excludeSubreddits: names('u_'),
    authors: names('--'),
    excludeAuthors: names('--'),
    languages: ['en', 'de', 'fr', 'es', 'und'],
    threadOnce: true,
  };
  const printed = printRuleQuery(settings);
  expect(printed.length).toBeGreaterThan(0.7 * MAX_QUERY_LENGTH);
  expect(parseQuery(printed)).toEqual({ settings });
});

const many = (count: number, start = 'term') => Array.from({ length: count }, (_, at) => `${start}${at}`);

test.each([
  ['rust OR «x', 'this must have 2 to 100 characters'],
  [`rust OR «${'x'.repeat(101)}`, 'this must have 2 to 100 characters'],
  ['rust OR «""', 'this must have 2 to 100 characters'],
  ['rust OR «"__"', 'this contains nothing to match'],
  ['rust OR «ru*', 'at least 3 letters'],
  ['rust AND (job OR «title:a1*)', 'at least 3 letters'],
  ['rust OR «"memory safety"*', 'one word'],
  ['rust OR «咖啡咖*', 'script with spaces'],
  ['rust «-x', 'this must have 2 to 100 characters'],
  ['rust AND (job OR «x)', 'this must have 2 to 100 characters'],
  ['rust AND job AND «x', 'this must have 2 to 100 characters'],
  ['rust sub:golang,«"no spaces"', 'name of a community'],
  ['rust sub:«-"no spaces"', 'name of a community'],
  ['rust author:«"[deleted]"', 'name of an account'],
  ['rust author:a author:«-[deleted]', 'name of an account'],
  ['rust lang:en,«xx', 'ISO 639-1'],
  // The first in the text is reported, not the first in the list of fields.
  ['sub:«"a b" rust OR y', 'name of a community'],
  ['«title:y OR x', 'this must have 2 to 100 characters'],
  // What is wrong with a list is shown at its last entry.
  [`${many(20).join(' OR ')} OR «last`, '"keywords" must have at most 20 terms'],
  [`title:a1 OR ${many(19).join(' OR ')} OR «title:last`, '"terms" must have at most 20 terms together with keywords'],
  [`rust ${many(20, '-term').join(' ')} «-last`, '"exclude" must have at most 20 terms'],
  [`rust AND (${many(20).join(' OR ')} OR «last)`, 'this group must have at most 20 terms'],
  ['rust AND aa AND bb AND cc AND dd AND ee AND «ff', '"require" must have at most 5 groups'],
  [`rust sub:${many(50).join(',')},«last`, '"subreddits" must have at most 50 names'],
  [`rust author:${many(50, '-a').join(',')},«-last`, '"exclude_authors" must have at most 50 names'],
])('refuses %j', (marked, message) => {
  const parsed = parseQuery(marked.replace('«', ''));
  expect(parsed).toEqual({
    refusal: { position: marked.indexOf('«'), message: expect.stringContaining(message) as unknown },
  });
});

test('a text that repeats one thing as often as it can is judged', () => {
  const parts = [
    'x OR ',
    'rust AND ',
    '-a ',
    '"a" OR ',
    'sub:a ',
    'sub:a,',
    'title:(a OR b) ',
    '(',
    '"\\',
    '"',
    '-',
    '\\',
  ];
  for (const part of [...parts, '*', '=', 'title,', 'title:', 'a,', '“', 'NOT ', 'lang:en ', '🦀 OR ']) {
    const query = part.repeat(MAX_QUERY_LENGTH / part.length);
    expect(parseQuery(query)).toHaveProperty('refusal');
    expect(parseQuery(`rust ${query}`.slice(0, MAX_QUERY_LENGTH))).toHaveProperty('refusal');
  }
});
