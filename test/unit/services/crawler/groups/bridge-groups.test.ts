import { expect, test } from 'vitest';
import { bridgeGroups } from '../../../../../services/crawler/groups/bridge-groups.ts';
import type { PlannedGroup } from '../../../../../services/crawler/groups/form-groups.ts';

function plan(names: string[]): PlannedGroup {
  const members = names.map((name) => ({ name, perSecond: 1, usualPerSecond: 1, gain: 1 }));
  return { members, maxIntervalMs: 50_000, mostPages: 1 };
}

function namesOf({ members }: PlannedGroup): string[] {
  return members.map(({ name }) => name);
}

test('gives communities that are far behind groups of their own', () => {
  const late = new Set(['b', 'd', 'e']);
  const groups = bridgeGroups(
    [plan(['a', 'b', 'c']), plan(['d', 'e', 'f', 'g'])],
    (name) => (late.has(name) ? 0 : 900_000),
    1_000_000,
  );
  expect(groups.map(namesOf)).toEqual([
    ['a', 'c'],
    ['b', 'd', 'e'],
    ['f', 'g'],
  ]);
});

test('leaves a group as it is if all or none of its communities are behind, or were never read', () => {
  const groups = [plan(['a', 'b']), plan(['c', 'd']), plan(['e'])];
  const readTo = (name: string) => (name < 'c' ? 0 : name < 'e' ? 990_000 : undefined);
  expect(bridgeGroups(groups, readTo, 1_000_000)).toEqual(groups);
});

test('puts no more than a hundred names into a group', () => {
  const names = Array.from({ length: 90 }, (_, n) => `n${n}`);
  const groups = bridgeGroups(
    [plan(['x', ...names]), plan(['y', ...names])],
    (name) => (name.startsWith('n') ? 0 : 1_000_000),
    1_000_000,
  );
  expect(groups.map(({ members }) => members.length).sort((a, b) => a - b)).toEqual([1, 1, 80, 100]);
});
