import type { ResultSet } from '@clickhouse/client';
import { markEngine } from '../outages/engine.ts';
import { errorMessage } from '../runtime/errors.ts';

type Answer = Pick<ResultSet<'JSONEachRow'>, 'json' | 'close'>;

/**
 * Makes `json` of an answer fail as its query does: at once when the signal of the query aborts, and as an outage of
 * ClickHouse when the answer is broken off. By itself, the client ignores the signal once the first bytes are there,
 * and reads the text of an error that follows the first rows as another row.
 */
export function withWholeJson(answer: unknown, signal: AbortSignal | undefined): unknown {
  if (!isAnswer(answer)) return answer;
  const read = answer.json.bind(answer);
  answer.json = (() => readWhole(answer, read, signal)) as Answer['json'];
  return answer;
}

function isAnswer(answer: unknown): answer is Answer {
  return typeof answer === 'object' && answer !== null && 'json' in answer && 'close' in answer;
}

async function readWhole(answer: Answer, read: () => Promise<unknown>, signal: AbortSignal | undefined) {
  const aborted = Promise.withResolvers<never>();
  const giveUp = () => {
    aborted.reject(new Error('an answer of ClickHouse was given up', { cause: signal?.reason }));
    answer.close();
  };
  signal?.addEventListener('abort', giveUp, { once: true });
  if (signal?.aborted === true) giveUp();
  try {
    return await Promise.race([read(), aborted.promise]);
  } catch (error) {
    // Every row that ClickHouse writes is JSON.
    const isText = error instanceof SyntaxError;
    const fault = isText ? new Error(`ClickHouse broke an answer off: ${errorMessage(error)}`) : error;
    throw markEngine(fault, 'clickhouse');
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
}
