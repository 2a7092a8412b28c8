import { describe, expect, test } from 'vitest';
import { SingleFlight } from '../../../../shared/cache/single-flight.ts';

/** A fetch that is answered by the test. */
function controlled() {
  const calls: { resolve: (value: string) => void; reject: (error: Error) => void; signal: AbortSignal }[] = [];
  const fetch = (signal: AbortSignal) =>
    new Promise<string>((resolve, reject) => {
      calls.push({ resolve, reject, signal });
    });
  return { calls, fetch };
}

describe('shared fetches', () => {
  test('callers at the same time share one fetch; the next one makes another', async () => {
    const { calls, fetch } = controlled();
    const shared = new SingleFlight<string>();
    const answers = [shared.run('k', fetch), shared.run('k', fetch), shared.run('other', fetch)];
    expect(calls).toHaveLength(2);
    calls[0]!.resolve('a');
    calls[1]!.resolve('b');
    expect(await Promise.all(answers)).toEqual(['a', 'a', 'b']);
    const later = shared.run('k', fetch);
    calls[2]!.resolve('c');
    expect(await later).toBe('c');
  });

  test('a failure goes to all who wait and is not kept', async () => {
    const { calls, fetch } = controlled();
    const shared = new SingleFlight<string>();
    const answers = Promise.allSettled([shared.run('k', fetch), shared.run('k', fetch)]);
    const error = new Error('no');
    calls[0]!.reject(error);
    expect(await answers).toEqual([
      { status: 'rejected', reason: error },
      { status: 'rejected', reason: error },
    ]);
    const later = shared.run('k', fetch);
    calls[1]!.resolve('yes');
    expect(await later).toBe('yes');
  });

  test('nobody gets an answer that came before the question, not even in the same turn', async () => {
    const { calls, fetch } = controlled();
    const shared = new SingleFlight<string>();
    const second = shared.run('k', fetch).then(() => shared.run('k', fetch));
    calls[0]!.resolve('old');
    await new Promise(setImmediate);
    expect(calls).toHaveLength(2);
    calls[1]!.resolve('new');
    expect(await second).toBe('new');
  });

  test('a fetch that throws at once is a failure like any other', async () => {
    const shared = new SingleFlight<string>();
    const broken = () => {
      throw new Error('at once');
    };
    await expect(shared.run('k', broken)).rejects.toThrow('at once');
    expect(await shared.run('k', async () => 'fine')).toBe('fine');
  });

  test('a caller that gives up does not disturb the others', async () => {
    const { calls, fetch } = controlled();
    const shared = new SingleFlight<string>();
    const impatient = new AbortController();
    const first = shared.run('k', fetch, impatient.signal);
    const second = shared.run('k', fetch, new AbortController().signal);
    impatient.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    expect(calls[0]!.signal.aborted).toBe(false);
    calls[0]!.resolve('a');
    expect(await second).toBe('a');
  });

  test('when the last one gives up, the fetch is told to stop, and the next caller starts anew', async () => {
    const { calls, fetch } = controlled();
    const shared = new SingleFlight<string>();
    const impatient = [new AbortController(), new AbortController()];
    const both = impatient.map((controller) => shared.run('k', fetch, controller.signal));
    for (const controller of impatient) controller.abort(new Error('gone'));
    expect(await Promise.allSettled(both)).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    expect(calls[0]!.signal.aborted).toBe(true);
    const later = shared.run('k', fetch);
    expect(calls).toHaveLength(2);
    // What the first fetch still says is of no consequence.
    calls[0]!.reject(new Error('stopped'));
    calls[1]!.resolve('a');
    expect(await later).toBe('a');
  });

  test('a finished fetch is not told to stop', async () => {
    const { calls, fetch } = controlled();
    const answer = new SingleFlight<string>().run('k', fetch, new AbortController().signal);
    calls[0]!.resolve('a');
    await answer;
    expect(calls[0]!.signal.aborted).toBe(false);
  });

  test('a caller that had given up before does not start a fetch', async () => {
    const { calls, fetch } = controlled();
    const given = AbortSignal.abort(new Error('gone'));
    await expect(new SingleFlight<string>().run('k', fetch, given)).rejects.toThrow('gone');
    expect(calls).toHaveLength(0);
  });
});
