import type { Traffic } from './traffic.ts';
import { WHOLE_SITE } from './traffic.ts';

/** The forum that the model plays. The defaults are the whole site. */
export interface ForumOptions {
  seed: number;
  /** When the model starts, in milliseconds since 1970. */
  startsAt: number;
  traffic: Traffic;
  communities: number;
  /** A community's share of all items is proportional to rank ^ -exponent. */
  exponent: number;
  /** The share of comments among all items. */
  comments: number;
  /** /r/all/comments shows this many comments of each second, and of the others all but the share `dropped`. */
  keptPerSecond: number;
  dropped: number;
  /** The share of comments in communities that /r/all does not show. */
  outsideAll: number;
  /** The share of comments that only their thread shows, and of comments that only num_comments counts. */
  inThreadOnly: number;
  inNothing: number;
  /** The share of items that appear late, by up to `latenessMs`, and then first in the listings. */
  late: number;
  latenessMs: number;
  /** The share of post ids that never appear. */
  holes: number;
  /** The posts of this many hours before the start have an id and attract comments. */
  historyHours: number;
}

export const WHOLE_SITE_FORUM: ForumOptions = {
  seed: 1,
  startsAt: Date.UTC(2026, 0, 15),
  traffic: WHOLE_SITE,
  communities: 100_000,
  exponent: 1.1,
  comments: 132 / 149,
  keptPerSecond: 60,
  dropped: 0.2,
  outsideAll: 0.01,
  inThreadOnly: 0.02,
  inNothing: 0.004,
  late: 0.005,
  latenessMs: 600_000,
  holes: 0.02,
  historyHours: 6,
};
