import { describe, expect, test } from 'vitest';
import { variantsOf } from '../../../../../shared/domain/suggestions/variants-of.ts';

describe('variantsOf', () => {
  test.each([
    ['grinder', 'grinders', 'in the plural'],
    ['Boxes', 'box', 'in the singular'],
    ['story', 'stories', 'in the plural'],
    ['stories', 'story', 'in the singular'],
    ['e-mail', 'email', 'in one word'],
    ['new york', 'newyork', 'in one word'],
    ['espresso', 'expresso', 'with one letter other'],
    ['espresso', 'espreso', 'with one letter other'],
    ['espresso', 'expreso', undefined],
    ['rust', 'dust', undefined],
    ['new york', 'york', undefined],
    ['grinder', 'grinder', undefined],
    ['🦀', 'crab', undefined],
  ])('%s, %s: %s', (keyword, word, how) => {
    expect(variantsOf(keyword, [[word, 3]])).toEqual(how === undefined ? [] : [{ word, count: 3, how }]);
  });

  test('a word in one text is an accident, and so is a misspelling in two', () => {
    expect(
      variantsOf('espresso', [
        ['expresso', 2],
        ['espressos', 1],
      ]),
    ).toEqual([]);
    expect(variantsOf('espresso', [['espressos', 2]])).toHaveLength(1);
  });
});
