/** At least 0 and below 1. */
export type Random = () => number;

/** Returns the same numbers in each run (the generator is mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Each of them; there must be at least one. */
export function oneOf<T>(values: readonly T[], random: Random): T {
  return values[Math.floor(random() * values.length)]!;
}

export function shuffled<T>(values: readonly T[], random: Random): T[] {
  const copy = [...values];
  for (let last = copy.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [copy[last], copy[other]] = [copy[other]!, copy[last]!];
  }
  return copy;
}

const BEGINNINGS = 'b,br,c,ch,cl,d,dr,f,fl,g,gr,h,j,k,l,m,n,p,pl,qu,r,s,sh,st,t,th,tr,v,w,z'.split(',');
const VOWELS = 'a,e,i,o,u,ai,ea,ou'.split(',');
const ENDS = ',,,n,r,s,t,l,nd,ck,x'.split(',');

/** Distinct invented words of two to four syllables, none of them in `taken`. */
export function syntheticWords(count: number, random: Random, taken?: ReadonlySet<string>): string[] {
  const words = new Set<string>();
  while (words.size < count) {
    let word = '';
    for (let syllables = 2 + Math.floor(random() * 3); syllables > 0; syllables--) {
      word += oneOf(BEGINNINGS, random) + oneOf(VOWELS, random);
    }
    word += oneOf(ENDS, random);
    if (!taken?.has(word)) words.add(word);
  }
  return [...words];
}

const SYLLABLES = BEGINNINGS.length * VOWELS.length;
const WORD_ENDS = [...new Set(ENDS)];
/** Words of three syllables; each can be divided into them in one way only. */
const INVENTED_WORDS = SYLLABLES ** 3 * WORD_ENDS.length;
/** Has no divisor in common with their number, so that steps of it reach each word before any for the second time. */
const STEP = 75_391_979;

/**
 * Invented words without end, none of them in `taken`, distinct up to 124 million. Unlike `syntheticWords` it keeps
 * none of them, so that there can be more than a Set holds.
 */
export function* inventedWords(taken?: ReadonlySet<string>): Generator<string, never> {
  for (let number = STEP; ; number = (number + STEP) % INVENTED_WORDS) {
    const word = inventedWord(number);
    if (!taken?.has(word)) yield word;
  }
}

function inventedWord(number: number): string {
  let rest = number;
  const draw = (values: readonly string[]): string => {
    const value = values[rest % values.length]!;
    rest = Math.floor(rest / values.length);
    return value;
  };
  let word = '';
  for (let syllables = 3; syllables > 0; syllables--) word += draw(BEGINNINGS) + draw(VOWELS);
  return word + draw(WORD_ENDS);
}
