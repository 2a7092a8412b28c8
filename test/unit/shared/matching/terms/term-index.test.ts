import { describe, expect, test } from 'vitest';
import { TermIndex } from '../../../../../shared/matching/terms/term-index.ts';

const TERMS = 'rust|new york|new york city|city|e-mail|e-mail address|C++ developer|手机|手机壳|:-)'.split('|');

function found(index: TermIndex, text: string): number[] {
  index.begin();
  index.search(text, 0);
  return [...index.found.terms.items.subarray(0, index.found.terms.length)].sort((one, other) => one - other);
}

describe('TermIndex', () => {
  test('finds a term until its last reference is released', () => {
    for (const term of TERMS) {
      const index = new TermIndex();
      const held = index.acquire(term);
      expect(index.acquire(term)).toBe(held);
      index.release(term);
      expect(found(index, `x ${term} y`)).toEqual([held]);
      index.release(term);
      expect(found(index, `x ${term} y`)).toEqual([]);
    }
  });

  test('releasing a term keeps longer terms with that prefix, and vice versa', () => {
    const index = new TermIndex();
    const held = new Map(TERMS.map((term) => [term, index.acquire(term)]));
    for (const term of TERMS) {
      index.release(term);
      for (const other of TERMS) {
        const isThere = found(index, `x ${other} y`).includes(held.get(other)!);
        expect([term, other, isThere]).toEqual([term, other, other !== term]);
      }
      held.set(term, index.acquire(term));
    }
  });

  test('releasing a term without references changes nothing', () => {
    for (const term of TERMS) {
      for (const never of [
        'rust',
        'new',
        'new york',
        'york',
        'city hall',
        'e-',
        'e-mail',
        'C++',
        '手',
        '手机壳子',
        ':-',
        '!',
      ]) {
        const index = new TermIndex();
        const held = index.acquire(term);
        if (never !== term) index.release(never);
        const bytes = index.bytes;
        expect(found(index, `x ${term} y`)).toEqual([held]);
        const other = index.acquire(never);
        expect(found(index, `x ${never} y`).includes(other)).toBe(other !== 0);
        index.release(never);
        expect(found(index, `x ${term} y`)).toEqual([held]);
        expect(index.bytes).toBeGreaterThanOrEqual(bytes);
      }
    }
  });

  test('reuses the memory of removed terms', () => {
    const index = new TermIndex();
    const holdAll = (number: number) => {
      for (const term of TERMS) index.acquire(`${term} ${number}`);
    };
    const releaseAll = (number: number) => {
      for (const term of TERMS) index.release(`${term} ${number}`);
    };
    for (let number = 0; number < 200; number++) holdAll(number);
    for (let number = 0; number < 200; number++) releaseAll(number);
    const { bytes } = index;
    for (let round = 0; round < 5; round++) {
      for (let number = 0; number < 200; number++) holdAll(number);
      for (let number = 0; number < 200; number++) releaseAll(number);
    }
    expect(index.bytes).toBe(bytes);
  });
});
