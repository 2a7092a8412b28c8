import { expect, test } from 'vitest';
import { ArchiveQueries } from '../../../../../services/api/reading/archive-queries.ts';

const DEADLINE_MS = 50;

/** The queries of an archive that answers a check, or not; `asked` are the checks. */
function createQueries(success: boolean) {
  const archive = { asked: 0 };
  const ping = () => {
    archive.asked += 1;
    return Promise.resolve(success ? { success } : { success, error: new Error('away') });
  };
  return { archive, queries: new ArchiveQueries({ ping }, DEADLINE_MS) };
}

/** A query that ends only with its signal. */
const endless = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(new Error('aborted'));
    });
  });

const UNAVAILABLE = {
  code: 'internal_error',
  status: 503,
  message: 'The comment archive is unavailable. Try again later. Nothing was charged.',
  takesDailySlot: false,
};

test('an archive that does not answer is unavailable, and is asked once for all searches', async () => {
  const { archive, queries } = createQueries(false);
  const searches = ['a', 'a', 'b'].map((account) => queries.begin(account, undefined)(endless));
  for (const search of await Promise.allSettled(searches)) expect(search).toMatchObject({ reason: UNAVAILABLE });
  expect(archive.asked).toBe(1);
});

test('three queries run at a time, and a search that waited until its deadline is told so', async () => {
  const { queries } = createQueries(true);
  let running = 0;
  let most = 0;
  const hold = async (signal: AbortSignal) => {
    running += 1;
    most = Math.max(most, running);
    await endless(signal).finally(() => {
      running -= 1;
    });
  };
  const searches = ['a', 'b', 'c', 'd', 'e'].map((account) => queries.begin(account, undefined)(hold));
  const outcomes = await Promise.allSettled(searches);
  expect(most).toBe(3);
  for (const outcome of outcomes.slice(3)) {
    expect(outcome).toMatchObject({
      reason: {
        status: 503,
        takesDailySlot: false,
        message: expect.stringContaining('Too many comment searches') as string,
      },
    });
  }
});
