import { describe, expect, test } from 'vitest';
import { RestartPolicy } from '../../../../services/launcher/restart-policy.ts';

function policyAt(start = 0) {
  const time = { now: start };
  return { time, policy: new RestartPolicy(() => time.now) };
}

describe('RestartPolicy', () => {
  test('waits 1 s, and twice as long after each further death', () => {
    const { time, policy } = policyAt();
    const waits: unknown[] = [];
    for (let death = 0; death < 4; death++) {
      time.now += 5_000;
      waits.push(policy.died(true));
      policy.started();
    }
    expect(waits).toEqual([1, 2, 4, 8].map((seconds) => ({ action: 'restart', afterMs: seconds * 1000 })));
  });

  test('starts again with 1 s after the process has run for a minute', () => {
    const { time, policy } = policyAt();
    policy.died(true);
    policy.died(true);
    policy.started();
    time.now += 60_000;
    expect(policy.died(true)).toEqual({ action: 'restart', afterMs: 1_000 });
  });

  test('does not count a death with another cause than the process', () => {
    const { policy } = policyAt();
    for (let death = 0; death < 20; death++) expect(policy.died(false)).toEqual({ action: 'restart', afterMs: 1_000 });
    expect(policy.died(true)).toEqual({ action: 'restart', afterMs: 1_000 });
  });
});
