import type { PlannedGroup } from './form-groups.ts';
import { FRESH_PER_PAGE, MAX_NAMES } from './form-groups.ts';

/** A community is behind if its new group writes more than this many pages since it was read last. */
const BEHIND_PAGES = 5;

/**
 * Takes communities that are far behind the others out of their groups, and gives them groups of their own: one page of
 * a busy group does not reach back to where a quiet community was read last. The next formation joins them.
 *
 * @param readTo up to when a community was read, in milliseconds since 1970; undefined: never
 */
export function bridgeGroups(
  groups: readonly PlannedGroup[],
  readTo: (name: string) => number | undefined,
  now: number,
): PlannedGroup[] {
  const result: PlannedGroup[] = [];
  let bridge: PlannedGroup | undefined;
  for (const group of groups) {
    const since = now - (BEHIND_PAGES * FRESH_PER_PAGE * 1000) / Math.max(1e-9, group.perSecond);
    const behind = group.names.filter((name) => (readTo(name) ?? now) < since);
    if (behind.length === 0 || behind.length === group.names.length) {
      result.push(group);
      continue;
    }
    const left = new Set(behind);
    result.push(
      partOf(
        group,
        group.names.filter((name) => !left.has(name)),
      ),
    );
    for (let from = 0; from < behind.length;) {
      if (!bridge || bridge.names.length >= MAX_NAMES) {
        bridge = partOf(group, []);
        result.push(bridge);
      }
      const names = behind.slice(from, from + MAX_NAMES - bridge.names.length);
      const part = partOf(group, names);
      bridge.names.push(...names);
      bridge.perSecond += part.perSecond;
      bridge.usualPerSecond += part.usualPerSecond;
      bridge.gain += part.gain;
      from += names.length;
    }
  }
  return result;
}

/** Communities of one group have similar rates. */
function partOf(group: PlannedGroup, names: string[]): PlannedGroup {
  const part = names.length / group.names.length;
  const { perSecond, usualPerSecond, gain } = group;
  return {
    ...group,
    names,
    perSecond: part * perSecond,
    usualPerSecond: part * usualPerSecond,
    gain: part * gain,
  };
}
