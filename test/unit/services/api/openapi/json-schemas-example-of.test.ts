import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { jsonFeed } from '../../../../../schemas/api/matches.ts';
import { createMonitorBody, parsedQuery, parseQueryBody, ruleWarning } from '../../../../../schemas/api/monitors.ts';
import { explainBody, previewSample, ruleExplanation } from '../../../../../schemas/api/rules.ts';
import { example } from '../../../../../schemas/messages/forum-item.ts';
import { monitorMatch } from '../../../../../schemas/messages/monitor-match.ts';
import { jsonFeed as feedOf } from '../../../../../services/api/matches/feed-formats.ts';
import { parseQuery, ruleSettingsResource, unsavedRule } from '../../../../../services/api/monitors/check-settings.ts';
import { explanationResource } from '../../../../../services/api/monitors/explanation-resource.ts';
import { ruleWarnings } from '../../../../../services/api/monitors/rule-warnings.ts';
import { exampleOf } from '../../../../../services/api/openapi/json-schemas.ts';
import { explain } from '../../../../../shared/matching/explain.ts';

const text = z.string().meta(example('a'));

describe('the example of a schema', () => {
  test('is its own, or made of those of its parts', () => {
    const part = z.strictObject({ kind: z.enum(['post', 'comment']), text }).meta({ id: 'TestPart' });
    const whole = z.strictObject({
      parts: z.array(part),
      flag: z.boolean(),
      isKnown: z.boolean().nullable(),
      missing: z.string().nullable(),
      either: z.union([part, z.literal(1)]),
      absent: part.optional(),
      given: text.optional(),
    });
    const one = { kind: 'post', text: 'a' };
    const made = { parts: [one], flag: false, isKnown: false, missing: null, either: one, given: 'a' };
    expect(exampleOf(whole)).toEqual(made);
    expect(exampleOf(whole.meta(example({ parts: [] })))).toEqual({ parts: [] });
  });

  test('of a request may leave out what has a default', () => {
    const body = z.strictObject({ text, days: z.number().default(7) });
    expect(exampleOf(body, 'input')).toEqual({ text: 'a' });
  });

  test('cannot be made when a part has none', () => {
    const named = z.strictObject({ parts: z.array(z.strictObject({ text: z.string() })) }).meta({ id: 'TestWhole' });
    expect(() => exampleOf(named)).toThrow('TestWhole.parts[].text has no example');
  });
});

describe('the examples are what the code answers:', () => {
  test('a rule that is read from text', () => {
    const read = parseQuery(exampleOf(parseQueryBody).query);
    expect('settings' in read && ruleSettingsResource(read.settings)).toEqual(exampleOf(parsedQuery).settings);
  });

  test('an explanation', () => {
    const { settings, item } = explainBody.parse(exampleOf(explainBody));
    const { kind, title, body, subreddit, nsfw } = item;
    const explained = explain(unsavedRule(settings), { kind, title, text: body, subreddit, nsfw });
    expect({ ...explanationResource(explained), history: [] }).toEqual(exampleOf(ruleExplanation));
  });

  test('a warning', () => {
    const rule = unsavedRule(
      createMonitorBody.parse({ name: 'a', keywords: ['giveaway today'], exclude: ['giveaway'] }),
    );
    expect(ruleWarnings(rule, { sample: [], suppressedPerDay: 1 })).toEqual([exampleOf(ruleWarning)]);
  });

  test('a highlight', () => {
    const { title, matched_terms: terms, highlights } = exampleOf(previewSample);
    expect(highlights.map(({ start, end }) => title.slice(start, end).toLowerCase())).toEqual(terms);
  });

  test('a feed', () => {
    const { title, feed_url: url } = exampleOf(jsonFeed);
    const match = exampleOf(monitorMatch);
    const found = {
      ...match,
      seq: 42,
      matchedTerms: match.matched_terms,
      createdAt: new Date(match.created_at),
      createdUtc: new Date(match.created_utc),
      isCut: false,
      removedAt: null,
    };
    expect(feedOf({ monitorId: match.monitor_id, name: title }, [found], url)).toEqual(exampleOf(jsonFeed));
  });
});
