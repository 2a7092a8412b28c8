import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RuleSettingsResource } from '../../../../../../schemas/api/monitors.ts';
import { FormFields } from '../../../../../../services/api/dashboard/page.ts';
import {
  EMPTY_VALUES,
  ruleOfValues,
  valuesOfForm,
  valuesOfRule,
} from '../../../../../../services/api/dashboard/monitors/monitor-form-values.ts';

/** What stands in a line: no line breaks, no spaces around it. */
const line = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .filter((text) => text === text.trim() && !/[\r\n\0]/.test(text));
const lines = fc.array(line, { minLength: 1, maxLength: 3 });
const term = fc
  .record({ text: line, prefix: fc.boolean(), isCase: fc.boolean(), isTitle: fc.boolean() })
  .map(({ text, prefix, isCase, isTitle }) => ({
    text,
    ...(prefix && { prefix }),
    ...(isCase && { case_sensitive: true }),
    ...(isTitle && { in: ['title' as const] }),
  }));
const rule: fc.Arbitrary<RuleSettingsResource> = fc.record(
  {
    keywords: lines,
    exclude: lines,
    subreddits: lines,
    posts: fc.boolean(),
    comments: fc.boolean(),
    nsfw: fc.boolean(),
    terms: fc.array(term, { minLength: 1, maxLength: 3 }),
    require: fc.array(fc.array(fc.oneof(line, term), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
    match_in: fc.subarray(['title', 'body', 'post_title'] as const, { minLength: 1 }).map((texts) => [...texts]),
    exclude_subreddits: lines,
    authors: lines,
    exclude_authors: lines,
    languages: fc.constantFrom(['en'], ['en', 'de', 'und']),
    thread_once: fc.boolean(),
  },
  { requiredKeys: [] },
);
const USUAL = ruleOfValues(EMPTY_VALUES);

describe('the values of the form', () => {
  test('are the rule that filled them, and stay so when a browser sends them', () => {
    fc.assert(
      fc.property(rule, (settings) => {
        const values = { ...EMPTY_VALUES, ...valuesOfRule(settings) };
        const expected = { ...USUAL, ...settings };
        expect(ruleOfValues(values)).toEqual(expected);
        const sent = Object.entries(values).flatMap(([name, value]): [string, unknown][] => {
          if (typeof value === 'boolean') return value ? [[name, 'on']] : [];
          // Browsers send line breaks as two characters.
          return [[name, typeof value === 'string' ? value.replaceAll('\n', '\r\n') : value]];
        });
        expect(ruleOfValues(valuesOfForm(new FormFields(Object.fromEntries(sent))))).toEqual(expected);
      }),
    );
  });

  test('keep a term with a line break on one line', () => {
    const { keywords, terms } = valuesOfRule({ keywords: ['a\r\nb', 'c'], terms: [{ text: 'd\ne', in: ['title'] }] });
    expect([keywords, terms]).toEqual(['a b\nc', 'title:"d e"']);
  });
});
