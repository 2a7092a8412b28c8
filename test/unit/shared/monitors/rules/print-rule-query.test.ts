import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRuleQuery } from '../../../../../shared/monitors/rules/parse-rule-query.ts';
import { printRuleQuery } from '../../../../../shared/monitors/rules/print-rule-query.ts';
import type { RuleSettings } from '../../../../../shared/monitors/rules/print-rule-query.ts';
import { anySettings } from '../../../../support/samples/rule-settings-arbitraries.ts';

function parse(query: string): RuleSettings {
  const parsed = parseRuleQuery(query);
  if ('refusal' in parsed) throw new Error(`${parsed.refusal.message} at ${parsed.refusal.position} of ${query}`);
  return parsed.settings;
}

describe('printRuleQuery', () => {
  test('is read as the same settings, whatever texts they hold', () => {
    fc.assert(
      fc.property(anySettings, (settings) => {
        expect(parse(printRuleQuery(settings))).toEqual(settings);
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([
    ['rust  OR\n"go"', 'rust OR go'],
    [
      'rust OR "memory safety" author:-automod sub:-rustjerk title:hiring*',
      'rust OR "memory safety" OR title:hiring* sub:-rustjerk author:-automod',
    ],
    ['(a) AND (b OR "OR") NOT c', 'a AND (b OR "OR") -c'],
    ['title:(a OR =B*) AND c', '(title:a OR title:=B*) AND c'],
    ['-is:post rust is:comment', 'rust is:comment'],
    ['rust -is:post,comment', 'rust is:-post,-comment'],
    [
      'rust sub:"a" sub:b author:"-c" author:-d,-"-e" in:title lang:EN once:thread nsfw:yes',
      'rust in:title sub:a,b author:"-c" author:-d,-"-e" lang:en nsfw:yes once:thread',
    ],
    ['term:rust OR go', 'go OR term:rust'],
    [
      '"C++" OR "AT&T" OR "node.js" OR "-x" OR "a:b" OR "a*" OR "say \\"hi\\" \\\\"',
      'C++ OR AT&T OR node.js OR "-x" OR "a:b" OR "a*" OR "say \\"hi\\" \\\\"',
    ],
  ])('prints %j', (query, printed) => {
    expect(printRuleQuery(parse(query))).toBe(printed);
  });
});
