import { expect, test } from 'vitest';
import { isGoneText } from '../../../../shared/domain/gone-text.ts';

test.each([
  ['[deleted]', true],
  ['[removed]', true],
  [' [removed]\n', true],
  ['[ Removed by Reddit ]', true],
  ['', false],
  ['removed', false],
  ['[removed] by me', false],
])('%j', (text, isGone) => {
  expect(isGoneText(text)).toBe(isGone);
});
