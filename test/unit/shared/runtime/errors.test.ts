import { expect, test } from 'vitest';
import { errorCode, errorMessage, toError } from '../../../../shared/runtime/errors.ts';

test('toError keeps an Error and wraps anything else', () => {
  const error = new TypeError('x');
  expect(toError(error)).toBe(error);
  expect(toError('text')).toEqual(new Error('text'));
  expect(toError(undefined)).toEqual(new Error('undefined'));
});

test.each([
  [new Error('why'), 'why'],
  ['text', 'text'],
  [7, '7'],
  [null, 'null'],
])('errorMessage of %o is %s', (error, message) => {
  expect(errorMessage(error)).toBe(message);
});

test.each([
  [Object.assign(new Error('x'), { code: 'ENOENT' }), 'ENOENT'],
  [Object.assign(new Error('x'), { code: 8 }), '8'],
  [new Error('x'), undefined],
  [{ code: 'ENOENT' }, undefined],
  [undefined, undefined],
])('errorCode of %o is %s', (error, code) => {
  expect(errorCode(error)).toBe(code);
});
