import { SeededRandom, PURPOSE, hash32 } from './seeded-random.ts';

const FIRST_PARTS = [
  ...['quiet', 'amber', 'brisk', 'copper', 'dusty', 'early', 'fuzzy', 'gentle', 'hollow', 'idle', 'jolly', 'keen'],
  ...['lunar', 'mossy', 'nimble', 'oaken', 'plain', 'quick', 'rainy', 'silver', 'tidy', 'upper', 'velvet', 'windy'],
];
const SECOND_PARTS = [
  ...['badger', 'kettle', 'lantern', 'marble', 'needle', 'otter', 'pebble', 'quill', 'rocket', 'saddle', 'teapot'],
  ...['umbrella', 'violin', 'walnut', 'yak', 'zeppelin', 'anchor', 'biscuit', 'compass', 'dumpling', 'engine'],
];
const FORMS: readonly ((a: string, b: string, n: number) => string)[] = [
  (a, b) => `${a}_${b}`,
  (a, b, n) => `${a}${b}${n}`,
  (a, b, n) => `${a}-${b}-${1000 + n}`,
  (a, b, n) => `${capital(a)}${capital(b)}_${n}`,
];
const AUTHOR_COUNT = FIRST_PARTS.length * SECOND_PARTS.length * FORMS.length;
/** The power of the random draw: with 3, a few authors write much and many write little. */
const SKEW = 3;
const SUSPENDED_ONE_IN = 200;
const SHADOW_BANNED = 'shadow_shelly';
export const SUSPENDED_USER = 'suspended_sam';
const SITE_STAFF = 'AutoModerator';

function capital(word: string): string {
  return word[0]!.toUpperCase() + word.slice(1);
}

function nameOf(seed: number, index: number): string {
  const a = FIRST_PARTS[index % FIRST_PARTS.length]!;
  const rest = Math.floor(index / FIRST_PARTS.length);
  const b = SECOND_PARTS[rest % SECOND_PARTS.length]!;
  const form = FORMS[Math.floor(rest / SECOND_PARTS.length)]!;
  const name = form(a, b, hash32(seed, index, PURPOSE.user) % 90);
  return name.slice(0, 20);
}

export function authorOf(seed: number, k: number): string {
  const random = new SeededRandom(seed, k, PURPOSE.author);
  if (random.chance(0.006)) return SITE_STAFF;
  return nameOf(seed, Math.floor(random.next() ** SKEW * AUTHOR_COUNT));
}

/** All authors of the seed by name in lower case. Other names are unknown, unless an injected item has them. */
export function everyAuthor(seed: number): Map<string, string> {
  const names = Array.from({ length: AUTHOR_COUNT }, (_, index) => nameOf(seed, index));
  return new Map([...names, SITE_STAFF, SUSPENDED_USER].map((name) => [name.toLowerCase(), name]));
}

type AccountStatus = 'good' | 'suspended' | 'shadow-banned';

export function accountStatusOf(seed: number, name: string): AccountStatus {
  if (name === SHADOW_BANNED) return 'shadow-banned';
  if (name === SUSPENDED_USER) return 'suspended';
  return name !== SITE_STAFF && numberOf(seed, name) % SUSPENDED_ONE_IN === 0 ? 'suspended' : 'good';
}

/** A number that depends only on seed and name. Account id and karma derive from it. */
export function numberOf(seed: number, name: string): number {
  let h = seed;
  for (const character of name.toLowerCase()) h = hash32(h, character.codePointAt(0)!, PURPOSE.user);
  return h;
}

export function accountId(seed: number, name: string): string {
  return (numberOf(seed, name) + 40_000_000).toString(36);
}
