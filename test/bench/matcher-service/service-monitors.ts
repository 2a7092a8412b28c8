import { newAccountId, newMonitorId } from '../../../shared/rules/identifiers.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { oneOf } from '../shared/matcher-random.ts';
import type { Random } from '../shared/matcher-random.ts';

/** Terms of a monitor: keywords, of which each third is a phrase, and excluded words. */
export interface Terms {
  keywords: number;
  excludes: number;
}

const PAGE = 2_000;
/** Excluded terms are words that occur in texts, except articles and pronouns. */
const EXCLUDED_RANKS = [100, 2_000] as const;

const CONSONANTS = 'b,c,d,f,g,h,j,k,l,m,n,p,r,s,t,v'.split(',');
const SYLLABLES = CONSONANTS.flatMap((consonant) => 'a,e,i,o'.split(',').map((vowel) => consonant + vowel));

/** The word for a number below 16,777,216: unique, with eight letters and without an x. */
export function watchedWord(number: number): string {
  let word = '';
  for (let rest = scattered(number), left = 4; left > 0; left--, rest = Math.floor(rest / 64)) {
    word += SYLLABLES[rest % 64]!;
  }
  return word;
}

/** A bijection that scatters neighbouring numbers: 6,364,137 is odd, so it is coprime to 2^24. */
function scattered(number: number): number {
  return Number((BigInt(number) * 6_364_137n) % 16_777_216n);
}

/** The words of items. They have an x, so that no monitor watches for them. */
export function commonWords(count: number): string[] {
  return Array.from(
    { length: count },
    (_, rank) => `x${watchedWord(rank).slice(0, 2 + (rank % 7))}${rank.toString(36)}`,
  );
}

/**
 * Stores this many active monitors of one new account, as the API creates them. With 20 keywords, monitor n watches for
 * the words n × 20 to n × 20 + 19, some of them as a phrase after a common word. Returns their ids, with monitor n at
 * index n.
 */
export async function insertWatchingMonitors(
  db: Queryable,
  count: number,
  terms: Terms,
  common: readonly string[],
  random: Random,
): Promise<string[]> {
  const accountId = newAccountId();
  await db.query('INSERT INTO accounts (id, email, mailbox, pack) VALUES ($1, $1, $1, 79)', [accountId]);
  const ids: string[] = [];
  while (ids.length < count) {
    const first = ids.length;
    const page = Array.from({ length: Math.min(PAGE, count - first) }, newMonitorId);
    const keywords = page.map((_, index) => keywordsOf(first + index, terms.keywords, common).join('|'));
    const excludes = page.map(() => excludedWords(terms.excludes, common, random).join('|'));
    await db.query(
      `WITH stored AS (
         INSERT INTO monitors (id, account_id, name, keywords, exclude, nsfw, webhook_secret, active_since, next_charge_at)
         SELECT id, $1, 'bench', string_to_array(keywords, '|'), string_to_array(exclude, '|'), true, '',
                wall_now() - interval '1 hour', service_now() + interval '1 day'
           FROM unnest($2::text[], $3::text[], $4::text[]) AS given (id, keywords, exclude)
         RETURNING id, active_since)
       INSERT INTO monitor_versions (monitor_id, version, since) SELECT id, 1, active_since FROM stored`,
      [accountId, page, keywords, excludes],
    );
    ids.push(...page);
  }
  await db.query('VACUUM ANALYZE monitors, monitor_versions');
  return ids;
}

function keywordsOf(monitor: number, count: number, common: readonly string[]): string[] {
  return Array.from({ length: count }, (_, index) => {
    const number = monitor * count + index;
    return index % 3 === 2 ? `${common[number % common.length]!} ${watchedWord(number)}` : watchedWord(number);
  });
}

function excludedWords(count: number, common: readonly string[], random: Random): string[] {
  const excludable = common.slice(...EXCLUDED_RANKS);
  return Array.from({ length: count }, () => oneOf(excludable, random));
}
