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
});
