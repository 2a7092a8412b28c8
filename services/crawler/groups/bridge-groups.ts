import { freshOfPages } from '../listings/listing-segment.ts';
import { sumOf } from './choose-communities.ts';
import type { PlannedGroup } from './form-groups.ts';
import { MAX_NAMES } from './form-groups.ts';

/** A community is behind if its new group writes more than this many pages since it was read last. */
const BEHIND_PAGES = 8;

/**
 * Takes communities that are far behind the others out of their groups, and gives them groups of their own: the pages
 * of a busy group do not reach back to where a quiet community was read last. The next formation joins them.
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
    const perSecond = sumOf(group.members, 'perSecond');
    const since = now - (freshOfPages(BEHIND_PAGES) * 1000) / Math.max(1e-9, perSecond);
    const behind = group.members.filter(({ name }) => (readTo(name) ?? now) < since);
    if (behind.length === 0 || behind.length === group.members.length) {
      result.push(group);
      continue;
    }
    const left = new Set(behind);
    result.push({ ...group, members: group.members.filter((member) => !left.has(member)) });
    for (let from = 0; from < behind.length;) {
      if (!bridge || bridge.members.length >= MAX_NAMES) {
        bridge = { ...group, members: [] };
        result.push(bridge);
      }
      const members = behind.slice(from, from + MAX_NAMES - bridge.members.length);
      bridge.members.push(...members);
      from += members.length;
    }
  }
  return result;
}
