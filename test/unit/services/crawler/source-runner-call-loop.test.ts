import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { CallLoop } from '../../../../services/crawler/source-runner.ts';
import type { Call, CrawlSource, Fetched, Wait } from '../../../../services/crawler/crawl-source.ts';
import { UpstreamError } from '../../../../shared/forum-client/upstream-error.ts';

/** A source whose calls the test ends one by one, in any order. */
class ScriptedSource implements CrawlSource {
  readonly name = 'scripted';
  readonly label = 'listings';
  readonly replay = false;
  readonly maxInFlight: number;
  readonly open: { succeed: (more?: Partial<Fetched>) => void; fail: (error: Error) => void }[] = [];
  readonly log: string[] = [];
  started = 0;
  private readonly calls: number;

  constructor(maxInFlight: number, calls = Infinity) {
    this.maxInFlight = maxInFlight;
    this.calls = calls;
  }

  next(): Call | Wait {
    if (this.started >= this.calls) return { waitMs: Infinity };
    const id = ++this.started;
    return {
      fetch: () =>
        new Promise<Fetched>((resolve, reject) => {
          const acknowledged = () => this.log.push(`acknowledged ${id}`);
          const succeed = (more: Partial<Fetched> = {}) => {
            resolve({ things: [], seenAt: 0, acknowledged, ...more });
          };
          this.open.push({ succeed, fail: reject });
        }),
      failed: () => this.log.push(`failed ${id}`),
    };
  }

  begin = () => Promise.resolve();
  position = () => undefined;
  end = () => Promise.resolve();
}

function start(source: ScriptedSource, { isPatient = false } = {}) {
  let now = 0;
  const stopping = new AbortController();
  const short: boolean[] = [];
  let moved = 0;
  const loop = new CallLoop(source, {
    publish: () => Promise.resolve(),
    onMoved: () => {
      moved += 1;
    },
    onIdle: () => undefined,
    isPatient,
    onShortOfBudget: (isShort) => short.push(isShort),
    failures: { failed: () => undefined, succeeded: () => undefined },
    clock: () => now,
    random: () => 0,
  });
  const outcome = loop.run(stopping.signal);
  outcome.catch(() => undefined);
  const pass = async (ms: number): Promise<void> => {
    now += ms;
    await vi.advanceTimersByTimeAsync(ms);
  };
  const setBack = (ms: number): void => {
    now -= ms;
  };
  return { outcome, stopping, short, loop, pass, setBack, moved: () => moved };
}

describe('CallLoop', () => {
  beforeAll(() => {
    vi.useFakeTimers();
  });
  afterAll(() => {
    vi.useRealTimers();
  });

  test('overlaps calls up to the limit and acknowledges each as it ends, in any order', async () => {
    const source = new ScriptedSource(3);
    const { pass, stopping, outcome, moved } = start(source);
    await pass(0);
    expect(source.started).toBe(3);
    source.open[2]?.succeed();
    source.open[0]?.succeed();
    await pass(0);
    expect(source.log).toEqual(['acknowledged 3', 'acknowledged 1']);
    expect(source.started).toBe(5);
    expect(moved()).toBe(2);
    stopping.abort();
    for (const call of source.open) call.fail(new Error('aborted'));
    await expect(outcome).resolves.toBe('ended');
  });

  test('starts no call during the back-off, until a call that began after the failure succeeds', async () => {
    const source = new ScriptedSource(2);
    const { pass, loop } = start(source);
    await pass(10);
    source.open[0]?.fail(new UpstreamError('broken', 'no answer'));
    await pass(0);
    await pass(100);
    expect(source.log).toEqual(['failed 1']);
    expect([source.started, loop.isFailing]).toEqual([2, true]);
    // Call 2 began before the failure: its success does not end the back-off.
    source.open[1]?.succeed();
    await pass(100);
    expect([source.started, loop.isFailing]).toEqual([2, true]);
    await pass(50);
    expect(source.started).toBe(4);
    source.open[2]?.succeed();
    await pass(0);
    expect(loop.isFailing).toBe(false);
  });

  test('waits as long as our own budget says, which is no failure, and reports it after 30 s', async () => {
    const source = new ScriptedSource(1);
    const { pass, loop, short } = start(source);
    await pass(0);
    const refusal = new UpstreamError('busy', 'used up', { reason: 'own_budget', retryAfterMs: 10_000 });
    for (const [index, reported] of [
      [0, []],
      [1, []],
      [2, []],
      [3, [true]],
    ] as const) {
      source.open[index]?.fail(refusal);
      await pass(0);
      await pass(9_999);
      expect(source.started).toBe(index + 1);
      expect([short, loop.isFailing]).toEqual([reported, false]);
      await pass(1);
    }
    source.open[4]?.succeed();
    await pass(0);
    expect(short).toEqual([true, false]);
  });

  test('a patient source makes one call at a time after a refusal by our budget, and more after successes', async () => {
    const source = new ScriptedSource(8);
    const { pass } = start(source, { isPatient: true });
    await pass(0);
    const refusal = new UpstreamError('busy', 'used up', { reason: 'own_budget', retryAfterMs: 100 });
    for (const call of source.open) call.fail(refusal);
    await pass(0);
    await pass(100);
    expect(source.started).toBe(9);
    for (const done of [8, 9, 10]) {
      source.open[done]?.succeed();
      await pass(0);
      expect(source.started).toBe(done + 2);
    }
    source.open[11]?.succeed();
    await pass(0);
    expect(source.started, 'four successes allow a second call').toBe(14);
  });

  test('rejects with an unexpected error after the other calls have ended', async () => {
    const source = new ScriptedSource(2);
    const { pass, outcome } = start(source);
    await pass(0);
    source.open[0]?.fail(new TypeError('a bug'));
    await pass(0);
    source.open[1]?.succeed();
    await expect(outcome).rejects.toThrow('a bug');
    expect(source.log).toEqual(['failed 1', 'acknowledged 2']);
  });
});
