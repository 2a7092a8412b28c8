import type { RecordedMatch } from '../../../schemas/messages/monitor-match.ts';
import { matchId } from '../../../shared/rules/identifiers.ts';

/** A match as the recorder publishes it after its commit. */
export function recordedMatch(monitorId: string, seq: number, body = 'Iron, water and air make rust.'): RecordedMatch {
  const now = new Date().toISOString();
  return {
    v: 1,
    match_id: matchId(monitorId, seq),
    monitor_id: monitorId,
    seq,
    matched_terms: ['rust'],
    suppressed: false,
    first_delivery: 'pending',
    entered_at: now,
    created_at: now,
    first_seen_at: now,
    item: {
      thing_id: `t3_${seq}`,
      kind: 'post',
      post_id: String(seq),
      parent_id: null,
      subreddit: 'metals',
      author: 'smith',
      title: 'On rust',
      body,
      permalink: `https://forum.example/r/metals/comments/${seq}/`,
      nsfw: false,
      created_utc: now,
    },
  };
}
