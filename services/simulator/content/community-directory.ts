import type { Community, Theme } from './communities.ts';
import { COMMUNITIES, communityNamed, communityOfPost, communityWithId, weightOf } from './communities.ts';
import { PURPOSE, hash32, roll } from './seeded-random.ts';

const THEMES: readonly Theme[] = ['code', 'kitchen', 'outdoors', 'home', 'science', 'play', 'money', 'culture'];
/** Far from the ids of the written communities, which follow their order. */
const FIRST_GENERATED_ID = parseInt('6a0000', 36);
const GENERATED_SINCE = 1_400_000_000;
/** The share of posts that the written communities keep when there are generated ones. */
const WRITTEN_SHARE = 0.2;
/** The exponent of Zipf's law: the community of rank r gets posts in proportion to 1 / r^1.1. */
const ZIPF_EXPONENT = 1.1;
const NSFW_SHARE = 0.05;
/** How many generated communities the lists of communities and their search show. */
const LISTED_GENERATED = 1000;

/** The written communities and, if asked for, generated ones, named by theme and rank, with rates by Zipf's law. */
export class CommunityDirectory {
  private readonly seed: number;
  private readonly generated: (Community | undefined)[];
  /** The share of the generated communities' posts that go to the ranks up to this one. */
  private readonly cumulative: Float64Array;

  constructor(seed: number, generated = 0) {
    this.seed = seed;
    this.generated = Array.from({ length: generated });
    this.cumulative = new Float64Array(generated);
    let sum = 0;
    for (let rank = 0; rank < generated; rank++) this.cumulative[rank] = sum += (rank + 1) ** -ZIPF_EXPONENT;
    for (let rank = 0; rank < generated; rank++) this.cumulative[rank]! /= sum;
  }

  named(name: string): Community | undefined {
    const written = communityNamed(name);
    if (written) return written;
    const rank = parseInt(/^[a-z]+_([0-9a-z]{1,5})$/i.exec(name)?.[1] ?? '', 36);
    const community = this.ranked(rank);
    return community?.name === name.toLowerCase() ? community : undefined;
  }

  withId(id: string): Community | undefined {
    const community = communityWithId(id) ?? this.ranked(parseInt(id, 36) - FIRST_GENERATED_ID);
    return community?.id === id ? community : undefined;
  }

  ofPost(post: number): Community {
    if (this.generated.length === 0) return communityOfPost(this.seed, post);
    const drawn = roll(this.seed, post, PURPOSE.generated);
    if (drawn < WRITTEN_SHARE) return communityOfPost(this.seed, post);
    return this.ranked(firstAbove(this.cumulative, (drawn - WRITTEN_SHARE) / (1 - WRITTEN_SHARE)))!;
  }

  /** The communities that lists and searches show, whether readable or not. */
  listed(): Community[] {
    const count = Math.min(LISTED_GENERATED, this.generated.length);
    return [...COMMUNITIES, ...Array.from({ length: count }, (_, rank) => this.ranked(rank)!)];
  }

  /**
   * The ids of communities that together have about this share of all posts. They are taken in an order that the seed
   * decides, each one that still fits.
   */
  optedOut(share: number): Set<string> {
    const candidates = [
      ...COMMUNITIES.map((community) => ({ community, rate: this.rateOfWritten(community) })),
      ...this.generated.map((_, rank) => ({ community: this.ranked(rank)!, rate: this.rateOfRank(rank) })),
    ];
    const ordered = candidates
      .map((candidate, index) => ({ ...candidate, order: hash32(this.seed, index, PURPOSE.optedOut) }))
      .sort((a, b) => a.order - b.order);
    const chosen = new Set<string>();
    let left = share;
    for (const { community, rate } of ordered) {
      if (rate > left || rate === 0) continue;
      chosen.add(community.id);
      left -= rate;
    }
    return chosen;
  }

  private rateOfWritten(community: Community): number {
    return weightOf(community) * (this.generated.length === 0 ? 1 : WRITTEN_SHARE);
  }

  private rateOfRank(rank: number): number {
    return (1 - WRITTEN_SHARE) * (this.cumulative[rank]! - (rank === 0 ? 0 : this.cumulative[rank - 1]!));
  }

  private ranked(rank: number): Community | undefined {
    if (!(rank >= 0 && rank < this.generated.length)) return undefined;
    return (this.generated[rank] ??= generate(this.seed, rank));
  }
}

function generate(seed: number, rank: number): Community {
  const theme = THEMES[hash32(seed, rank, PURPOSE.generated) % THEMES.length]!;
  const name = `${theme}_${rank.toString(36)}`;
  return {
    name,
    title: `A community about ${theme}`,
    description: `Number ${rank + 1} by its number of posts. Be kind.`,
    theme,
    language: 'en',
    over18: roll(seed, rank, PURPOSE.generated) < NSFW_SHARE,
    type: 'public',
    subscribers: 50 + Math.floor(5_000_000 / (rank + 10)),
    created: GENERATED_SINCE + (rank % 10_000_000) * 31,
    weight: 0,
    id: (FIRST_GENERATED_ID + rank).toString(36),
  };
}

/** The first index whose value is above `limit`, the last index if none is (binary search in ascending values). */
function firstAbove(values: Float64Array, limit: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}
