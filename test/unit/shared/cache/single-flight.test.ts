import { describe, expect, test } from 'vitest';
import { SingleFlight } from '../../../../shared/cache/single-flight.ts';

/** A fetch that the test answers. */
function controlled() {
  const calls: { resolve: (value: string) => void; reject: (error: Error) => void; signal: AbortSignal }[] = [];
  const fetch = (signal: AbortSignal) =>
    new Promise<string>((resolve, reject) => {
      calls.push({ resolve, reject, signal });
    });
  return { calls, fetch };
}

describe('SingleFlight', () => {
  test('concurrent callers share one fetch, and the next caller starts another', async () => {
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

  test('a failure goes to all waiting callers and is not stored', async () => {
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

  test('a caller never gets a result that is older than its call, even in the same turn', async () => {
    const { calls, fetch } = controlled();
    const shared = new SingleFlight<string>();
    const second = shared.run('k', fetch).then(() => shared.run('k', fetch));
    calls[0]!.resolve('old');
    await new Promise(setImmediate);
    expect(calls).toHaveLength(2);
    calls[1]!.resolve('new');
    expect(await second).toBe('new');
  });

  test('a fetch that throws synchronously is a rejection', async () => {
    const shared = new SingleFlight<string>();
    const broken = () => {
      throw new Error('at once');
    };
    await expect(shared.run('k', broken)).rejects.toThrow('at once');
    expect(await shared.run('k', async () => 'fine')).toBe('fine');
  });

  test('a caller that aborts does not affect the others', async () => {
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

  test('when the last caller aborts, the fetch is aborted and the next caller starts a new one', async () => {
    const { calls, fetch } = controlled();
    const shared = new SingleFlight<string>();
    const impatient = [new AbortController(), new AbortController()];
    const both = impatient.map((controller) => shared.run('k', fetch, controller.signal));
    for (const controller of impatient) controller.abort(new Error('gone'));
    expect(await Promise.allSettled(both)).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    expect(calls[0]!.signal.aborted).toBe(true);
    const later = shared.run('k', fetch);
    expect(calls).toHaveLength(2);
    // The result of the first fetch no longer matters.
    calls[0]!.reject(new Error('stopped'));
    calls[1]!.resolve('a');
    expect(await later).toBe('a');
  });

  test('a finished fetch is not aborted', async () => {
    const { calls, fetch } = controlled();
    const answer = new SingleFlight<string>().run('k', fetch, new AbortController().signal);
    calls[0]!.resolve('a');
    await answer;
    expect(calls[0]!.signal.aborted).toBe(false);
  });

  test('a caller whose signal is already aborted does not start a fetch', async () => {
    const { calls, fetch } = controlled();
    const given = AbortSignal.abort(new Error('gone'));
    await expect(new SingleFlight<string>().run('k', fetch, given)).rejects.toThrow('gone');
    expect(calls).toHaveLength(0);
  });
});
