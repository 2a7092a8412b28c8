/** Rule 27: an item must be in one of the languages. */
import type { MatchItem } from '../../../../../../shared/matching/rule.ts';
import { comment, post } from './item-case.ts';
import type { ItemCase } from './item-case.ts';

function row(languages: string[], language: string | undefined, item: MatchItem, isFound: boolean): ItemCase {
  return {
    rule: `27 ${languages.join(' or ') || 'any'}: ${language ?? 'no language'}`,
    monitor: { languages },
    item: language === undefined ? item : { ...item, language },
    expected: isFound ? ['rust'] : undefined,
  };
}
const COMMENT = comment('rust');
const POST = post('rust', '');

export const LANGUAGE_CASES: readonly ItemCase[] = [
  row(['en'], 'en', COMMENT, true),
  row(['en'], 'en', POST, true),
  row(['de', 'en'], 'en', COMMENT, true),
  row(['de', 'en'], 'de', COMMENT, true),
  row(['und'], 'und', COMMENT, true),
  row(['und'], undefined, COMMENT, true),
  row(['en', 'und'], undefined, POST, true),
  row([], 'de', COMMENT, true),
  row([], undefined, COMMENT, true),
  row(['en'], 'de', COMMENT, false),
  row(['en'], 'de', POST, false),
  row(['en'], 'und', COMMENT, false),
  row(['en'], undefined, COMMENT, false),
  row(['und'], 'en', COMMENT, false),
  row(['de', 'fr'], 'en', COMMENT, false),
  row(['de', 'fr'], undefined, POST, false),
];
