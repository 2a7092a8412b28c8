import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hashApiKey } from '../../../shared/accounts/rules/credentials.ts';
import { allPlans } from '../../../shared/billing/rules/plans.ts';
import type { Pack } from '../../../shared/billing/rules/plans.ts';
import { randomText } from '../../../shared/rules/identifiers.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { admitRequests } from '../../../shared/accounts/request-limits.ts';
import { secondsUntilUse, takeUse } from '../../../shared/accounts/sliding-log-limits.ts';
import type { SlidingLogLimit } from '../../../shared/accounts/sliding-log-limits.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let api: TestApi;
let other: TestApi;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool, { limits: 'plans' });
  other = await startTestApi(db.pool, { limits: 'plans' });
});

afterAll(async () => {
  await api.stop();
  await other.stop();
  await db.drop();
});

const ask = (key: string, from = api): Promise<Reply> => from.call(key, 'GET', '/v1/monitors');
const codeOf = ({ body }: Reply) => (body.error as { code: string } | undefined)?.code;
const limitsOf = ({ headers }: Reply) => [headers.get('ratelimit-policy'), headers.get('ratelimit')];
const dayRequests = async (accountId: string) => {
  const { rows } = await db.pool.query<{ day_requests: number }>(
    'SELECT day_requests FROM account_limits WHERE account_id = $1',
    [accountId],
  );
  return rows[0]!.day_requests;
};

afterEach(() => db.pool.query('UPDATE service_clock SET frozen_at = NULL'));

describe('with time frozen', () => {
  beforeEach(() => db.freeze());

  test.each([
    [9, 10, 5],
    [29, 20, 10],
    [79, 40, 20],
  ] as [Pack, number, number][])(
    'the $%i pack: a burst of %i, then %i a second, without a daily limit',
    async (pack, burst, rate) => {
      const { apiKey } = await api.account({ pack });
      const replies = await Promise.all(
        Array.from({ length: 100 }, (_, at) => ask(apiKey, at % 2 === 0 ? api : other)),
      );
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(burst);
      const refused = replies.filter(({ status }) => status === 429);
      expect(refused).toHaveLength(100 - burst);
      for (const reply of refused) {
        expect([codeOf(reply), reply.headers.get('retry-after')]).toEqual(['rate_limited', '1']);
        expect(limitsOf(reply)).toEqual([`"burst";q=${burst};w=2`, '"burst";r=0;t=2']);
      }
      await db.freeze('1 second');
      const next = await Promise.all(Array.from({ length: 100 }, () => ask(apiKey)));
      expect(next.filter(({ status }) => status === 200)).toHaveLength(rate);
      await db.freeze('1 hour');
      expect(limitsOf(await ask(apiKey))).toEqual([`"burst";q=${burst};w=2`, `"burst";r=${burst - 1};t=1`]);
    },
  );

  test('a free account: one request a second over all its keys and processes, and headers with what is left', async () => {
    const { apiKey } = await api.account({ pack: 0 });
    const made = await api.call(apiKey, 'POST', '/v1/account/keys', { name: 'second' });
    const second = made.body.api_key as string;
    expect(limitsOf(made)[0]).toBe('"burst";q=1;w=1, "day";q=100;w=86400');
    expect(limitsOf(made)[1]).toMatch(/^"burst";r=0;t=1, "day";r=99;t=\d+$/);
    await db.freeze('999 milliseconds');
    const early = await Promise.all([ask(apiKey), ask(second, other)]);
    expect(early.map(codeOf)).toEqual(['rate_limited', 'rate_limited']);
    await db.freeze('1 millisecond');
    const replies = await Promise.all(
      Array.from({ length: 200 }, (_, at) => ask(at % 3 === 0 ? second : apiKey, at % 2 === 0 ? api : other)),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.map(codeOf).filter((code) => code === 'rate_limited')).toHaveLength(199);
    const { error } = replies.find(({ status }) => status === 429)!.body as { error: object };
    expect(error).toEqual({
      code: 'rate_limited',
      message: 'Too many requests: the limit is 1 a second.',
      doc_url: 'http://localhost/docs/reference/errors#rate_limited',
      retryable: true,
      retry_after: 1,
    });
  });

  test('100 requests a UTC day; a request refused by the rate takes no slot; the day ends at 00:00 UTC', async () => {
    const { apiKey, accountId } = await api.account({ pack: 0 });
    await db.pool.query(`UPDATE service_clock SET frozen_at = '2031-05-06T20:00:00Z'`);
    for (let at = 0; at < 99; at++) {
      await db.freeze('1 second');
      expect((await ask(apiKey)).status).toBe(200);
      if (at % 10 === 0) expect(codeOf(await ask(apiKey))).toBe('rate_limited');
    }
    expect(await dayRequests(accountId)).toBe(99);
    await db.freeze('1 second');
    expect(limitsOf(await ask(apiKey))[1]).toBe('"burst";r=0;t=1, "day";r=0;t=14300');
    const spent = await ask(apiKey);
    expect([spent.status, codeOf(spent), spent.headers.get('retry-after')]).toEqual([
      429,
      'daily_limit_reached',
      '14300',
    ]);
    await db.pool.query(`UPDATE service_clock SET frozen_at = '2031-05-06T23:59:59.999Z'`);
    expect((await ask(apiKey)).body.error).toMatchObject({ code: 'daily_limit_reached', retry_after: 1 });
    await db.freeze('1 millisecond');
    expect(limitsOf(await ask(apiKey))[1]).toBe('"burst";r=0;t=1, "day";r=99;t=86400');
    await db.pool.query('UPDATE accounts SET pack = 9 WHERE id = $1', [accountId]);
    expect(limitsOf(await ask(apiKey))[0]).toBe('"burst";q=10;w=2');
    await db.pool.query('UPDATE service_clock SET frozen_at = NULL');
  });

  test("a wrong secret with a valid key id takes nothing of the account's limits", async () => {
    const { apiKey, accountId } = await api.account({ pack: 0 });
    const wrong = apiKey.slice(0, -1) + (apiKey.endsWith('0') ? '1' : '0');
    const replies = await Promise.all(Array.from({ length: 20 }, () => ask(wrong)));
    expect(replies.every((reply) => codeOf(reply) === 'unauthorized' && limitsOf(reply)[0] === null)).toBe(true);
    expect([await dayRequests(accountId), (await ask(apiKey)).status]).toEqual([0, 200]);
  });

  test('a request that fails on our side returns its daily slot, and the headers show it', async () => {
    const { apiKey, accountId } = await api.account({ pack: 0 });
    // The forum of this API is unreachable.
    const failed = await api.call(apiKey, 'GET', '/v1/forum/subreddit?sub=coffee');
    expect([failed.status, limitsOf(failed)[1]]).toEqual([503, expect.stringContaining('"day";r=100;') as string]);
    expect(await dayRequests(accountId)).toBe(0);
    await db.freeze('1 second');
    const wrong = await api.call(apiKey, 'GET', '/v1/forum/subreddit?sub=');
    expect([wrong.status, limitsOf(wrong)[1]]).toEqual([400, expect.stringContaining('"day";r=99;') as string]);
    expect(await dayRequests(accountId)).toBe(1);
  });
});

test('every process refuses a revoked key once the revocation is answered', async () => {
  for (let round = 0; round < 20; round++) {
    const { apiKey } = await api.account();
    const id = apiKey.slice(3, 11);
    const background = Array.from({ length: 10 }, (_, at) => ask(apiKey, at % 2 === 0 ? api : other));
    expect((await api.call(apiKey, 'DELETE', `/v1/account/keys/${id}`)).status).toBe(200);
    const after = await Promise.all([ask(apiKey), ask(apiKey, other), ask(apiKey, other)]);
    expect(after.map(({ status }) => status)).toEqual([401, 401, 401]);
    await Promise.all(background);
  }
});

const asked = ({ apiKey }: TestAccount) => ({ keyId: apiKey.slice(3, 11), keyHash: hashApiKey(apiKey) });

describe('a clock that jumps back', () => {
  test.each(['1 hour', '3 years'])('by %s blocks nobody for long and breaks nothing', async (far) => {
    const [free, paid] = [await api.account({ pack: 0 }), await api.account({ pack: 9 })];
    await db.freeze();
    await db.freeze(far);
    await admitRequests(db.pool, [asked(free), ...Array.from({ length: 10 }, () => asked(paid))], allPlans());
    await db.freeze(`-${far}`);
    const ask = () => Promise.all([free, paid].map(({ apiKey }) => api.call(apiKey, 'GET', '/v1/account')));
    expect((await ask()).map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
      [429, '1'],
      [200, null],
    ]);
    await db.freeze('1 second');
    expect((await ask()).map(({ status }) => status)).toEqual([200, 200]);
  });
});

function newLimit(most: number, seconds: number): SlidingLogLimit {
  return { name: randomText(12), maxUses: most, seconds };
}

const take = (limit: SlidingLogLimit) => takeUse(db.pool, limit);
const takeAtOnce = (limit: SlidingLogLimit, count: number) =>
  Promise.all(Array.from({ length: count }, () => take(limit)));
const taken = (answers: readonly number[]) => answers.filter((seconds) => seconds === 0).length;

async function timesHeld(name: string): Promise<number> {
  const { rows } = await db.pool.query<{ held: number }>(
    'SELECT cardinality(times) AS held FROM recent_uses WHERE name = $1',
    [name],
  );
  return rows[0]?.held ?? 0;
}

describe('a limit of uses, taken concurrently', () => {
  beforeEach(() => db.freeze());

  test('of which one was made by a clock that was ahead: it counts neither for asking nor for taking', async () => {
    const limit = newLimit(1, 60);
    await db.freeze('1 hour');
    await take(limit);
    await db.freeze('-1 hour');
    expect(await secondsUntilUse(db.pool, limit)).toBe(0);
    expect(await take(limit)).toBe(0);
    expect(await secondsUntilUse(db.pool, limit)).toBe(60);
  });

  test('of which some roll back: their uses are free again', async () => {
    const limit = newLimit(5, 60);
    const takeAndFail = () =>
      inTransaction(db.pool, async (client) => {
        await takeUse(client, limit);
        throw new Error('changed its mind');
      });
    const kept = Array.from({ length: 5 }, () => take(limit));
    await Promise.allSettled([...kept, ...Array.from({ length: 15 }, takeAndFail)]);
    const got = taken(await Promise.all(kept));
    expect(got + taken(await takeAtOnce(limit, 10))).toBe(5);
  });

  test('agrees with a plain list of times: never too many uses in a window, never a needless refusal', async () => {
    const moves = fc.array(
      fc.record({ moveMs: fc.oneof(fc.constant(0), fc.nat(3_000)), takers: fc.integer({ min: 1, max: 4 }) }),
      {
        minLength: 3,
        maxLength: 20,
      },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 6 }),
        moves,
        async (most, seconds, steps) => {
          const limit = newLimit(most, seconds);
          const uses: number[] = [];
          let now = 0;
          for (const { moveMs, takers } of steps) {
            now += moveMs;
            await db.freeze(`${moveMs} milliseconds`);
            const counting = uses.filter((at) => at > now - seconds * 1_000);
            const free = Math.min(most - counting.length, takers);
            const answers = await takeAtOnce(limit, takers);
            expect(taken(answers)).toBe(free);
            for (let each = 0; each < free; each++) uses.push(now);
            if (free === takers) continue;
            const nextFree = uses.at(-most)! + seconds * 1_000;
            expect(new Set(answers.filter((wait) => wait > 0))).toEqual(new Set([Math.ceil((nextFree - now) / 1_000)]));
          }
          expect(await timesHeld(limit.name)).toBeLessThanOrEqual(most);
        },
      ),
      { numRuns: 40 },
    );
  });
});
