import { expect, test } from 'vitest';
import { ActiveMonitors } from '../../../../services/matcher/active-monitors.ts';
import { candidate } from '../../../../schemas/messages/monitor-match.ts';
import type { MonitorRule } from '../../../../shared/monitors/monitor-rules.ts';
import { forumItemOf } from '../../../support/samples/forum-items.ts';

const T = Date.parse('2026-01-01T00:00:00.000Z');

/** Version n began at T + 1000 × n; created at T + 1000. */
function monitorOf(version: number, more: Partial<MonitorRule> = {}): MonitorRule {
  return {
    id: 'mon_a',
    rule: { keywords: ['rust'], exclude: [], subreddits: [], posts: true, comments: true, nsfw: false },
    version,
    activeSinceMs: T + 1_000,
    versions: Array.from({ length: version }, (_, index) => ({ version: index + 1, sinceMs: T + 1_000 * (index + 1) })),
    ...more,
  };
}

function entered(atMs: number) {
  return { offset: 0n, enteredAtMs: atMs, item: forumItemOf('t1_a') };
}

test('a created monitor is scanned for from active_since', () => {
  expect(new ActiveMonitors().set(monitorOf(1))).toBe(T + 1_000);
  // Also when it was changed before it was read.
  expect(new ActiveMonitors().set(monitorOf(3))).toBe(T + 1_000);
});

test('a changed rule is scanned for from the version after the known one, over several changes at once', () => {
  const monitors = new ActiveMonitors();
  monitors.set(monitorOf(2));
  expect(monitors.set(monitorOf(5))).toBe(T + 3_000);
});

test('a monitor paused and resumed between two reads is not scanned for, because it was matched all the time', () => {
  const monitors = new ActiveMonitors();
  monitors.set(monitorOf(1));
  const resumed = { id: 'mon_a', version: 1, activeSinceMs: T + 9_000 };
  expect(monitors.isUpToDate(resumed)).toBe(false);
  expect(monitors.set(monitorOf(1, { activeSinceMs: T + 9_000 }))).toBeUndefined();
  expect(monitors.isUpToDate(resumed)).toBe(true);
});

test('a monitor that was read as paused and then resumed is scanned for from active_since', () => {
  const monitors = new ActiveMonitors();
  monitors.set(monitorOf(1));
  monitors.remove('mon_a');
  expect(monitors.candidates(entered(T + 2_000))).toEqual([]);
  expect(monitors.set(monitorOf(1, { activeSinceMs: T + 9_000 }))).toBe(T + 9_000);
});

test('a version older than the known one counts, since a fail-over may lose the last change', () => {
  const monitors = new ActiveMonitors();
  monitors.set(monitorOf(3));
  expect(monitors.set(monitorOf(2))).toBe(T + 1_000);
  expect(monitors.candidates(entered(T + 9_000))[0]?.monitor_version).toBe(2);
});

test('when retention deleted versions, the scan starts at the oldest remaining version after the known one', () => {
  const monitors = new ActiveMonitors();
  monitors.set(monitorOf(1));
  expect(monitors.set(monitorOf(5, { versions: [{ version: 5, sinceMs: T + 5_000 }] }))).toBe(T + 5_000);
});

test('missed candidates are only those of monitors that started late enough and before the item', () => {
  const monitors = new ActiveMonitors();
  monitors.set(monitorOf(2));
  const missed = (enteredAt: number, changedSince: number, tolerance = 0) =>
    monitors.missedCandidates(entered(T + enteredAt), T + changedSince, tolerance).length;
  expect(missed(5_000, 2_001), 'the previous owner knew both versions').toBe(0);
  expect(missed(5_000, 2_000), 'it may have missed the second version').toBe(1);
  expect(missed(1_999, 2_000), 'the item entered before the second version started').toBe(0);
  expect(missed(1_999, 2_000, 1), 'within the tolerance of the clocks').toBe(1);
  expect(missed(1_500, 500), 'it may have missed the first version, under which the item entered').toBe(1);
  // A resume counts as a start.
  monitors.set(monitorOf(2, { activeSinceMs: T + 60_000 }));
  expect([missed(60_001, 30_000), missed(59_999, 30_000)]).toEqual([1, 0]);
});

test('a candidate conforms to its schema and has no other field of the item', () => {
  const monitors = new ActiveMonitors();
  monitors.set(monitorOf(2));
  const [made] = monitors.candidates(entered(T + 5_000));
  expect(candidate.strict().parse(made)).toEqual(made);
  expect(made).toMatchObject({ monitor_id: 'mon_a', monitor_version: 2, matched_terms: ['rust'] });
  const [position] = made?.match_positions ?? [];
  const found = position?.field === 'body' ? made?.item.body : made?.item.title;
  expect(found?.slice(position?.start, position?.end).toLowerCase()).toBe('rust');
  expect(made?.entered_at).toBe(new Date(T + 5_000).toISOString());
  expect(Object.keys(made?.item ?? {})).not.toContain('score');
});
