import { afterEach, expect, test, vi } from 'vitest';
import { ArchiveTurns } from '../../../../../../services/api/monitors/trends/archive-turns.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** An archive that answers when the test says so. */
function slowArchive() {
  const answers: ((value: string) => void)[] = [];
  const ask = (signal: AbortSignal) =>
    new Promise<string>((resolve, reject) => {
      answers.push(resolve);
      signal.addEventListener('abort', () => {
        reject(signal.reason as Error);
      });
    });
  return { answers, ask };
}

const settled = async () => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
};

test('four at once, the others in the order of arrival', async () => {
  const turns = new ArchiveTurns();
  const { answers, ask } = slowArchive();
  const asked = Array.from({ length: 6 }, (_, at) => turns.ask(`account ${at}`, undefined, ask));
  await settled();
  expect(answers).toHaveLength(4);
  answers[2]!('third');
  expect(await asked[2]).toBe('third');
  await settled();
  expect(answers).toHaveLength(5);
  for (const at of [0, 1, 3, 4]) answers[at]!('rest');
  await settled();
  answers[5]!('last');
  expect(await Promise.all(asked)).toEqual(['rest', 'rest', 'third', 'rest', 'rest', 'last']);
});

test('an archive that hangs is unavailable after five seconds, for those who wait for a turn too', async () => {
  const timeout = new AbortController();
  const waits = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(timeout.signal);
  const turns = new ArchiveTurns();
  const { ask } = slowArchive();
  const asked = Array.from({ length: 6 }, (_, at) => turns.ask(`account ${at}`, undefined, ask));
  const outcomes = Promise.allSettled(asked);
  timeout.abort(new Error('timeout'));
  for (const outcome of await outcomes) {
    expect(outcome).toMatchObject({ reason: { code: 'internal_error', status: 503, retryAfter: 5 } });
  }
  expect(waits).toHaveBeenCalledWith(5_000);
});
