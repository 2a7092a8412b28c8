import { expect, test, vi } from 'vitest';
import { CallCounts, startCallRecorder } from '../../../../shared/forum-client/call-counts.ts';
import type { CountedCalls } from '../../../../shared/forum-client/call-counts.ts';
import { silentLogger } from '../../../support/fixtures/silent-logger.ts';

const takenIn = (calls: readonly CountedCalls[]) => calls.reduce((sum, { taken }) => sum + taken, 0);

test('calls wait in memory while the database is unavailable, and the last ones are stored at stop', async () => {
  const counts = new CallCounts();
  const stored: CountedCalls[][] = [];
  let failures = 0;
  let isUnavailable = true;
  const add = (calls: CountedCalls[]) => {
    if (isUnavailable) {
      failures++;
      return Promise.reject(new Error('unavailable'));
    }
    stored.push(calls);
    return Promise.resolve();
  };
  const recorder = startCallRecorder({ counts, add, logger: silentLogger(), intervalMs: 1 });
  counts.note('live', 'taken', 0);
  await vi.waitFor(() => expect(failures).toBeGreaterThan(2), { timeout: 30_000 });
  isUnavailable = false;
  await vi.waitFor(() => expect(stored.length).toBeGreaterThan(0), { timeout: 30_000 });
  expect(stored.map(takenIn)).toEqual([1]);
  await recorder.stop();
  const waiting = startCallRecorder({ counts, add, logger: silentLogger(), intervalMs: 3_600_000 });
  counts.note('live', 'taken', 0);
  counts.note('live', 'taken', 0);
  await waiting.stop();
  expect(stored.map(takenIn)).toEqual([1, 2]);
});

test('nothing is written when nothing was called', async () => {
  const add = vi.fn(() => Promise.resolve());
  const recorder = startCallRecorder({ counts: new CallCounts(), add, logger: silentLogger() });
  await recorder.stop();
  expect(add).not.toHaveBeenCalled();
});
