import { roll, PURPOSE, hash32 } from './seeded-random.ts';

export type Language = 'en' | 'zh' | 'ja' | 'ko' | 'de' | 'fr' | 'es' | 'pt' | 'ru' | 'th' | 'ar';
export type Theme = 'code' | 'kitchen' | 'outdoors' | 'home' | 'science' | 'play' | 'money' | 'culture';
type CommunityType = 'public' | 'restricted' | 'archived' | 'private' | 'gold_only' | 'quarantined' | 'banned';

export interface Community {
  name: string;
  title: string;
  description: string;
  theme: Theme;
  language: Language;
  over18: boolean;
  type: CommunityType;
  subscribers: number;
  /** Seconds since 1970. */
  created: number;
  /** Share of the posts, relative to the others; 0 gets none. */
  weight: number;
  /** Base 36, without t5_. */
  id: string;
}

type Row = [
  name: string,
  title: string,
  theme: Theme,
  language: Language,
  weight: number,
  flag?: 'nsfw' | CommunityType,
];

const ROWS: readonly Row[] = [
  ['programming', 'Programming in general', 'code', 'en', 9],
  ['rust', 'The language that argues back', 'code', 'en', 5],
  ['python', 'Snakes, spaces and scripts', 'code', 'en', 6],
  ['webdev', 'Pages, servers and what lies between', 'code', 'en', 5],
  ['selfhosted', 'Servers in cupboards', 'code', 'en', 5],
  ['databases', 'Rows, columns and regrets', 'code', 'en', 3],
  ['linux', 'The desktop year, every year', 'code', 'en', 5],
  ['MechanicalKeyboards', 'Switches and caps', 'code', 'en', 4],
  ['Coffee', 'Beans, grinders and water', 'kitchen', 'en', 5],
  ['espresso', 'Nine bars of opinion', 'kitchen', 'en', 3],
  ['Cooking', 'What is for dinner', 'kitchen', 'en', 7],
  ['Breadit_', 'Flour, water, patience', 'kitchen', 'en', 3],
  ['tea', 'Leaves and kettles', 'kitchen', 'en', 2],
  ['gardening', 'Dirt under the nails', 'outdoors', 'en', 5],
  ['hiking', 'Up, along and down again', 'outdoors', 'en', 4],
  ['bicycling', 'Two wheels', 'outdoors', 'en', 5],
  ['birding', 'Look up', 'outdoors', 'en', 2],
  ['DIY', 'Measure twice', 'home', 'en', 6],
  ['HomeRepair', 'What is that noise', 'home', 'en', 4],
  ['cats', 'Whoever owns whom', 'home', 'en', 6],
  ['dogs', 'Good ones', 'home', 'en', 5],
  ['astronomy', 'Far away things', 'science', 'en', 4],
  ['askscience_', 'Questions with sources', 'science', 'en', 4],
  ['weather', 'Clouds and their consequences', 'science', 'en', 3],
  ['boardgames', 'Cardboard and rules', 'play', 'en', 5],
  ['indiegames', 'Small teams, odd ideas', 'play', 'en', 5],
  ['chess', 'Sixty-four squares', 'play', 'en', 4],
  ['frugal', 'Spending less', 'money', 'en', 4],
  ['smallbusiness', 'Invoices and ideas', 'money', 'en', 4],
  ['books', 'Reading, mostly', 'culture', 'en', 6],
  ['filmphotography', 'Grain', 'culture', 'en', 3],
  ['synthesizers', 'Knobs', 'culture', 'en', 3],
  ['zhongwen', '中文讨论区', 'culture', 'zh', 7],
  ['nihongo_talk', '日本語で話そう', 'culture', 'ja', 7],
  ['hangukeo', '한국어 이야기', 'culture', 'ko', 7],
  ['de_plausch', 'Auf Deutsch geplaudert', 'culture', 'de', 4],
  ['causerie', 'On cause en français', 'culture', 'fr', 3],
  ['charla', 'Charla en español', 'culture', 'es', 3],
  ['conversa', 'Conversa em português', 'culture', 'pt', 3],
  ['razgovory', 'Разговоры обо всём', 'culture', 'ru', 3],
  ['thai_chat', 'คุยกันภาษาไทย', 'culture', 'th', 2],
  ['majlis', 'مجلس الحديث', 'culture', 'ar', 2],
  ['drunkenbaking', 'Baking after the second glass', 'kitchen', 'en', 3, 'nsfw'],
  ['horrormakeup', 'Wounds made of wax', 'culture', 'en', 3, 'nsfw'],
  ['announcements_only', 'Only some may post', 'home', 'en', 1, 'restricted'],
  ['oldbulletins', 'Closed and kept', 'culture', 'en', 0, 'archived'],
  ['backroom', 'By invitation', 'home', 'en', 0, 'private'],
  ['thelounge', 'Paying members', 'home', 'en', 0, 'gold_only'],
  ['doubtfulcures', 'Read the warning first', 'science', 'en', 0, 'quarantined'],
  ['brokenrules', 'Gone', 'home', 'en', 0, 'banned'],
];

const FIRST_ID = parseInt('5a000', 36);
const OLDEST = 1_250_000_000;

const COMMUNITIES: readonly Community[] = ROWS.map(([name, title, theme, language, weight, flag], index) => ({
  name,
  title,
  description: `${title}. Be kind, stay near the subject, and say where a picture comes from.`,
  theme,
  language,
  over18: flag === 'nsfw',
  type: flag === undefined || flag === 'nsfw' ? 'public' : flag,
  subscribers: 900 + weight * 14_321 + index * 77,
  created: OLDEST + index * 9_000_000,
  weight,
  id: (FIRST_ID + index).toString(36),
}));

const BY_NAME = new Map(COMMUNITIES.map((community) => [community.name.toLowerCase(), community]));
const BY_ID = new Map(COMMUNITIES.map((community) => [community.id, community]));
const TOTAL_WEIGHT = COMMUNITIES.reduce((sum, community) => sum + community.weight, 0);
/** One entry per unit of weight, so that a draw is one look-up. */
const DRAW: readonly Community[] = COMMUNITIES.flatMap((community) =>
  Array.from({ length: community.weight }, () => community),
);

function communityOfPost(seed: number, post: number): Community {
  return DRAW[Math.floor(roll(seed, post, PURPOSE.community) * TOTAL_WEIGHT)]!;
}

export function isReadable(community: Community): boolean {
  return community.type === 'public' || community.type === 'restricted' || community.type === 'archived';
}

const THEMES: readonly Theme[] = ['code', 'kitchen', 'outdoors', 'home', 'science', 'play', 'money', 'culture'];
/** Far from the ids of the written communities, which follow their order. */
const FIRST_GENERATED_ID = parseInt('6a0000', 36);
const GENERATED_SINCE = 1_400_000_000;
const WRITTEN_SHARE = 0.2;
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
    const written = BY_NAME.get(name.toLowerCase());
    if (written) return written;
    const rank = parseInt(/^[a-z]+_([0-9a-z]{1,5})$/i.exec(name)?.[1] ?? '', 36);
    const community = this.ranked(rank);
    return community?.name === name.toLowerCase() ? community : undefined;
  }

  withId(id: string): Community | undefined {
    const community = BY_ID.get(id) ?? this.ranked(parseInt(id, 36) - FIRST_GENERATED_ID);
    return community?.id === id ? community : undefined;
  }

  ofPost(post: number): Community {
    if (this.generated.length === 0) return communityOfPost(this.seed, post);
    const drawn = roll(this.seed, post, PURPOSE.generated);
    if (drawn < WRITTEN_SHARE) return communityOfPost(this.seed, post);
    return this.ranked(firstAbove(this.cumulative, (drawn - WRITTEN_SHARE) / (1 - WRITTEN_SHARE)))!;
  }

  listed(): Community[] {
    const count = Math.min(LISTED_GENERATED, this.generated.length);
    return [...COMMUNITIES, ...Array.from({ length: count }, (_, rank) => this.ranked(rank)!)];
  }

  /** Communities that together have about this share of all posts: in a seeded order, each one that still fits. */
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
    return (community.weight / TOTAL_WEIGHT) * (this.generated.length === 0 ? 1 : WRITTEN_SHARE);
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
