import { describe, expect, test } from 'vitest';
import { headOf, plainLine, tailOf } from '../../../../../shared/deliveries/rules/chat-text.ts';

const length = (text: string) => text.length;

describe('cuts', () => {
  test.each([
    ['a family', '👩‍👩‍👧‍👦'],
    ['a flag', '🇩🇪'],
    ['an accent', 'e\u0301'],
    ['a surrogate pair', '🦀'],
  ])('fall between whole characters: %s', (_, character) => {
    const whole = character.repeat(20);
    for (let limit = 1; limit < whole.length; limit++) {
      const kept = character.repeat(Math.floor((limit - 1) / character.length));
      expect([headOf(whole, limit, length), tailOf(whole, limit, length)]).toEqual([`${kept}…`, `…${kept}`]);
    }
    expect([headOf(whole, whole.length, length), tailOf(whole, whole.length, length)]).toEqual([whole, whole]);
  });

  test('fall between the marks of a character that has hundreds', () => {
    const head = headOf(`a${'\u0301'.repeat(500)}`, 100, length);
    expect(head).toHaveLength(100);
    expect(tailOf(`a${'\u0301'.repeat(500)}`, 100, length)).toHaveLength(100);
  });

  test('keep a word whole only where one ends nearby', () => {
    expect(headOf(`one ${'x'.repeat(100)}`, 20, length)).toBe('one…');
    expect(headOf(`one ${'x'.repeat(100)}`, 60, length)).toBe(`one ${'x'.repeat(55)}…`);
  });
});

test.each([
  ['a\r\n\tb\u2028c\u0085d', 'a b c d'],
  ['a\u0000b\u001bc\u007f', 'abc'],
  ['\u202eabc\u202c\u2066\u2069\u061c\u200f\ufeff', 'abc'],
  ['a \u0007 b', 'a b'],
  ['\ud83d!', '\ufffd!'],
])('plainLine turns %j into %j', (text, line) => {
  expect(plainLine(text)).toBe(line);
});
