import { describe, expect, test } from 'vitest';
import { FoldedText } from '../../../../../shared/matching/text/folded-text.ts';
import { Tokens } from '../../../../../shared/matching/text/tokens.ts';

describe('Tokens', () => {
  test('have no gaps and have equal values only for equal words', () => {
    const folded = new FoldedText();
    const tokens = new Tokens();
    const read = (text: string): string[] => {
      folded.fold(text);
      tokens.read(folded.units, 0, folded.length);
      const starts = tokens.starts.items;
      return Array.from({ length: tokens.count }, (_, token) =>
        folded.toString().slice(starts[token] ?? 0, starts[token + 1] ?? 0),
      );
    };
    expect(read("don't_ __a__b's'  手机ーx ")).toEqual([..."don't|_| |_|_|a__b|'s|'|  |手|机|ー|x| ".split('|')]);
    expect(read("x's's 's 's't a'")).toEqual(["x's", "'s", ' ', "'", 's', ' ', "'", "s't", ' ', 'a', "'"]);
    expect(read('\ud83da\ud801\udc28b🦀\ude00')).toEqual(['\ud83d', 'a𐐨b', '🦀', '\ude00']);
    expect(read('')).toEqual([]);
    const values = (text: string): number[] => {
      read(text);
      return Array.from(tokens.values.items.subarray(0, tokens.count));
    };
    const [one, two, three] = [values('abc xabc abc'), values('ABC'), values("abc's")];
    expect(one[0]).toBe(one[4]);
    expect(two[0]).toBe(one[0]);
    expect(three[0]).toBe(one[0]);
    expect(one[2]).not.toBe(one[0]);
    const words = Array.from({ length: 5000 }, (_, number) => number.toString(36));
    expect(new Set(words.flatMap((word) => values(word))).size).toBeGreaterThan(4990);
  });
});
