import type { FeedAddresses } from '../../../../schemas/api/matches.ts';
import { atomFeed, jsonFeed, lastChange } from '../../matches/feed-formats.ts';
import { monitorExamples } from './monitor-examples.ts';

const [match] = monitorExamples.page.items;
const token = 'feed_0a1b2c3d4e5f6g7h8j9k0m1n2p3q4r5s';
const base = `https://api.example.com/feeds/${token}`;
const addresses: FeedAddresses = { atom_url: `${base}.atom`, json_url: `${base}.json` };

const feed = (url: string) =>
  jsonFeed(
    { monitorId: monitorExamples.id, name: 'Grinders' },
    [
      {
        seq: 42,
        kind: match!.kind,
        matchedTerms: match!.matched_terms,
        createdAt: new Date(match!.created_at),
        subreddit: match!.subreddit,
        author: match!.author,
        title: match!.title,
        body: match!.body,
        isCut: false,
        permalink: match!.permalink,
        createdUtc: new Date(match!.created_utc),
        removedAt: null,
      },
    ],
    url,
  );
const atom = feed(addresses.atom_url);

/** Answers of the routes about feeds, invented. */
export const feedExamples = {
  token,
  addresses,
  atom: atomFeed(atom, monitorExamples.id, lastChange(atom, new Date('2026-03-04T10:00:00Z'))),
  json: feed(addresses.json_url),
};
