import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GroupCommit } from '../../../../services/archiver/group-commit.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A group commit whose inserts are ended by the test. */
function controlled() {
  const inserts: { rows: number[]; end: (error?: Error) => void }[] = [];
  const commits = new GroupCommit<number>(
    (rows) =>
      new Promise((resolve, reject) => {
        inserts.push({ rows, end: (error) => (error ? reject(error) : resolve()) });
      }),
  );
  return { commits, inserts };
}

const rows = (count: number) => Array.from({ length: count }, (_, index) => index);
const settle = () => vi.advanceTimersByTimeAsync(0);

/** Whether a promise has settled yet, and how. */
function stateOf(promise: Promise<void>): { now: string } {
  const state = { now: 'waiting' };
  promise.then(
    () => (state.now = 'done'),
    (error: unknown) => (state.now = (error as Error).message),
  );
  return state;
}

test('rows wait up to a second while other partitions may add more', async () => {
  const { commits, inserts } = controlled();
  commits.setPartitions(3);
  void commits.add([1]);
  await vi.advanceTimersByTimeAsync(500);
  void commits.add([2]);
  await vi.advanceTimersByTimeAsync(499);
  expect(inserts).toHaveLength(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(inserts.map(({ rows }) => rows)).toEqual([[1, 2]]);
  await commits.add([]);
  for (const row of [3, 4, 5]) void commits.add([row]);
  expect(inserts.at(-1)?.rows, 'every partition waits').toEqual([3, 4, 5]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(inserts, 'no timer is left behind').toHaveLength(2);
});

test('5,000 rows are inserted at once', async () => {
  const { commits, inserts } = controlled();
  commits.setPartitions(9);
  void commits.add(rows(4_999));
  expect(inserts).toHaveLength(0);
  void commits.add([1]);
  expect(inserts.map(({ rows }) => rows.length)).toEqual([5_000]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(inserts, 'no timer is left behind').toHaveLength(1);
});

test('handlers continue or fail only as the insert of their own group does', async () => {
  const { commits, inserts } = controlled();
  commits.setPartitions(3);
  const first = [commits.add(rows(2_500)), commits.add(rows(2_500))].map(stateOf);
  const next = stateOf(commits.add([7]));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(inserts.map(({ rows }) => rows.length)).toEqual([5_000, 1]);
  expect([...first, next].map(({ now }) => now)).toEqual(['waiting', 'waiting', 'waiting']);
  inserts[0]?.end(new Error('away'));
  await settle();
  expect([...first, next].map(({ now }) => now)).toEqual(['away', 'away', 'waiting']);
  inserts[1]?.end();
  await settle();
  expect(next.now).toBe('done');
});

test('a process without partitions, or with fewer than before, still inserts', async () => {
  const { commits, inserts } = controlled();
  commits.setPartitions(4);
  void commits.add([1]);
  commits.setPartitions(0);
  void commits.add([2]);
  await vi.advanceTimersByTimeAsync(200);
  expect(inserts.map(({ rows }) => rows)).toEqual([[1, 2]]);
});
