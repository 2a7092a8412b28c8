import { expect, test } from 'vitest';
import { monitorMatch } from '../../../../../schemas/messages/monitor-match.ts';
import { matchResource } from '../../../../../shared/matches/rules/match-resource.ts';
import type { StoredMatch } from '../../../../../shared/matches/rules/match-resource.ts';

const stored: StoredMatch = {
  seq: 7,
  thingId: 't1_abc',
  kind: 'comment',
  matchedTerms: ['rust'],
  suppressed: false,
  suppressedReason: null,
  backfill: false,
  deliveryStatus: 'pending',
  createdAt: new Date('2026-03-04T05:06:07.089Z'),
  deliveredAt: null,
  postId: 'xyz',
  subreddit: 'metals',
  author: 'smith',
  title: 'On rust',
  body: 'It never sleeps',
  permalink: 'https://forum.example/r/metals/comments/xyz/on_rust/abc/',
  createdUtc: new Date('2026-03-04T05:06:00Z'),
};

test('a match has the schema of its resource, and its fields in a fixed order', () => {
  const resource = matchResource('mon_0123456789ab', stored);
  expect(monitorMatch.parse(resource)).toEqual(resource);
  expect(JSON.stringify(resource)).toBe(
    '{"id":"mat_0123456789ab_000000000007","monitor_id":"mon_0123456789ab","thing_id":"t1_abc","kind":"comment",' +
      '"subreddit":"metals","author":"smith","title":"On rust","body":"It never sleeps",' +
      '"permalink":"https://forum.example/r/metals/comments/xyz/on_rust/abc/","post_id":"xyz",' +
      '"created_utc":"2026-03-04T05:06:00.000Z","matched_terms":["rust"],"suppressed":false,' +
      '"delivery_status":"pending","created_at":"2026-03-04T05:06:07.089Z","delivered_at":null}',
  );
});

test('a match says why it was suppressed, and that a backfill found it', () => {
  const suppressed = {
    ...stored,
    suppressed: true,
    deliveryStatus: 'skipped',
    suppressedReason: 'thread_once',
  } as const;
  for (const match of [suppressed, { ...stored, backfill: true, deliveryStatus: 'none' as const }]) {
    const resource = matchResource('mon_0123456789ab', match);
    expect(monitorMatch.parse(resource)).toEqual(resource);
  }
  expect(matchResource('mon_0123456789ab', suppressed)).toMatchObject({ suppressed_reason: 'thread_once' });
});
