import { commentCount, scoreAt } from '../render/render-post.ts';
import type { World } from '../world.ts';

const SPANS: Readonly<Record<string, number>> = { hour: 1, day: 24, week: 168, month: 744, year: 8784 };
const HOUR = 3_600_000;

/**
 * Sorts the slots of a listing, given newest first, by `sort`. `t` limits the age of items in top and controversial.
 */
export function sorted(world: World, slots: readonly number[], sort: string, t: string | null, now: number): number[] {
  const ageOf = (k: number): number => now - world.timeline.emittedAt(k)!;
  const scoreOf = (k: number): number => {
    const isPost = world.timeline.item(k).kind === 'post';
    return scoreAt((isPost ? world.catalog.post(k) : world.catalog.comment(k)).lifecycle, ageOf(k));
  };
  const by = (rank: (k: number) => number, list: readonly number[]): number[] => {
    const ranks = new Map(list.map((k) => [k, rank(k)]));
    return [...list].sort((a, b) => ranks.get(b)! - ranks.get(a)!);
  };
  switch (sort) {
    case 'top':
      return by(scoreOf, withinSpan(slots, t, ageOf));
    case 'controversial':
      return by((k) => -Math.abs(scoreOf(k) - 2), withinSpan(slots, t, ageOf));
    case 'hot':
      return by(
        (k) => Math.sign(scoreOf(k)) * Math.log10(Math.max(1, Math.abs(scoreOf(k)))) - ageOf(k) / (12.5 * HOUR),
        slots,
      );
    case 'rising':
      return by((k) => scoreOf(k) / (1 + ageOf(k) / HOUR), slots).slice(0, 100);
    case 'comments':
      return by((k) => commentCount(world, world.catalog.post(k), now), slots);
    default:
      return [...slots];
  }
}

export function withinSpan(slots: readonly number[], t: string | null, ageOf: (k: number) => number): number[] {
  const hours = SPANS[t ?? 'all'];
  return hours === undefined ? [...slots] : slots.filter((k) => ageOf(k) <= hours * HOUR);
}
