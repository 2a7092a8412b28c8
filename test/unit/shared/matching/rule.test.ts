import { expect, test } from 'vitest';
import { isRemovedText } from '../../../../shared/matching/rule.ts';

test.each([
  ['[deleted]', true],
  ['[removed]', true],
  [' [removed]\n', true],
  ['[ Removed by Reddit ]', true],
  ['[removed by reddit]', true],
  ['[ Removed by Reddit on account of violating the [content policy](/help/contentpolicy). ]', true],
  ['[ Removed by Reddit in response to a copyright notice. ]', true],
  ['[Removed by moderator]', true],
  ['[deleted by user]', true],
  ['', false],
  ['removed', false],
  ['[removed] by me', false],
  ['[removed by my mother]', false],
  ['[ Removed by Reddit, why? ]', false],
  ['a [deleted by user]', false],
])('%j', (text, isGone) => {
  expect(isRemovedText(text)).toBe(isGone);
});
