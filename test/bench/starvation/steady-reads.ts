import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';

/**
 * Requests posts that were not requested before, at an even rate, even if earlier requests are not answered yet.
 *
 * @returns the number of answers by status; failed connections count as status 0
 */
export async function readSteadily(load: {
  url: string;
  key: string;
  perSecond: number;
  seconds: number;
}): Promise<Record<string, number>> {
  const { url, key, perSecond, seconds } = load;
  const answers: Record<string, number> = {};
  if (perSecond === 0) {
    await wait(seconds * 1000);
    return answers;
  }
  const pool = new Pool(url, { connections: 256 });
  const ask = async (number: number): Promise<void> => {
    const path = `/v1/forum/things?ids=t3_${number.toString(36)}`;
    const status = await pool
      .request({ path, method: 'GET', headers: { authorization: `Bearer ${key}` } })
      .then(async (response) => {
        await response.body.dump();
        return response.statusCode;
      })
      .catch(() => 0);
    answers[status] = (answers[status] ?? 0) + 1;
  };
  const begun = performance.now();
  const all: Promise<void>[] = [];
  for (let number = 0; number < perSecond * seconds; number++) {
    await wait(Math.max(0, begun + (number * 1000) / perSecond - performance.now()));
    all.push(ask(number));
  }
  await Promise.all(all);
  await pool.close();
  return answers;
}
