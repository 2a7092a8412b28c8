import { describe, expect, test } from 'vitest';
import { SingleFlight } from '../../../../shared/runtime/single-flight.ts';

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
});
