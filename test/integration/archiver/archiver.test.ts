import { afterEach, beforeEach, test } from 'vitest';
import type { RecordedMatch } from '../../../schemas/messages/recorded-match.ts';
import { itemContent } from '../../../schemas/messages/forum-item.ts';
import {
  FORUM_COMMENTS,
  FORUM_REMOVALS,
  MONITOR_DELIVERIES,
  MONITOR_MATCHES,
} from '../../../schemas/messages/topics.ts';
import { matchId } from '../../../shared/domain/identifiers.ts';
import { storeItems } from '../../../shared/stores/matches/recording-items.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { commentItem } from '../../support/samples/forum-items.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';

const MONITOR = 'mon_7n3k0v9xq2ma';

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await Pipeline.create();
});
afterEach(() => pipeline.drop());

async function publish(topic: string, key: string, value: object): Promise<void> {
  await pipeline.kafka.publisher.publish(topic, [{ key, value: JSON.stringify(value) }]);
}

async function rows<T>(query: string): Promise<T[]> {
  return (await pipeline.clickhouse.query({ query, format: 'JSONEachRow' })).json<T>();
}

async function expectRows(query: string, expected: unknown[]): Promise<void> {
  await eventually(query, async () => {
    const found = await rows(query);
    if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(`found ${JSON.stringify(found)}`);
    return true;
  });
}

function matchOf(seq: number): RecordedMatch {
  const {
    v: _v,
    source: _s,
    replay: _r,
    first_seen_at,
    score: _p,
    num_comments: _n,
    url: _u,
    ...item
  } = commentItem(seq, 'rust');
  const at = new Date().toISOString();
  return {
    v: 1,
    match_id: matchId(MONITOR, seq),
    monitor_id: MONITOR,
    seq,
    matched_terms: ['rust', '咖啡'],
    suppressed: false,
    first_delivery: 'pending',
    entered_at: at,
    created_at: at,
    first_seen_at,
    item,
  };
}

test('archives items, matches and attempts, each once however often it is published', async () => {
  await pipeline.start('archiver');
  const item = commentItem(1, 'rust & <b>"quotes"</b>\n\u{1F980} 咖啡');
  const match = matchOf(1);
  const attempt = {
    v: 1,
    monitor_id: MONITOR,
    seq: 1,
    match_id: match.match_id,
    attempt: 1,
    started_at: match.created_at,
    duration_ms: 12,
    webhook_kind: 'generic',
    host: 'hooks.example.com',
    status: 0,
    error: 'timeout',
    delivery_status: 'pending',
    next_attempt_at: match.created_at,
  };
  for (let times = 0; times < 2; times++) {
    await publish(FORUM_COMMENTS.name, item.thing_id, item);
    await publish(MONITOR_MATCHES.name, MONITOR, match);
    await publish(MONITOR_DELIVERIES.name, MONITOR, attempt);
  }
  const wire = (iso: string) => iso.replace('T', ' ').replace('Z', '');
  await expectRows('SELECT thing_id, body, ver, created_utc FROM items FINAL', [
    { thing_id: item.thing_id, body: item.body, ver: 1, created_utc: wire(item.created_utc) },
  ]);
  await expectRows('SELECT seq, match_id, thing_id, matched_terms, suppressed, entered_at FROM matches FINAL', [
    {
      seq: 1,
      match_id: match.match_id,
      thing_id: 't1_1',
      matched_terms: match.matched_terms,
      suppressed: false,
      entered_at: wire(match.entered_at),
    },
  ]);
  await expectRows('SELECT attempt, host, error, next_attempt_at FROM delivery_attempts FINAL', [
    { attempt: 1, host: attempt.host, error: 'timeout', next_attempt_at: wire(attempt.next_attempt_at) },
  ]);
});

test('archives the language of an item and why a match was suppressed, where messages have them', async () => {
  await pipeline.start('archiver');
  const items = [commentItem(1, 'old'), { ...commentItem(2, 'new'), language: 'de' }];
  for (const item of items) await publish(FORUM_COMMENTS.name, item.thing_id, item);
  const suppressed = { ...matchOf(2), suppressed: true, suppressed_reason: 'thread_once' };
  for (const match of [matchOf(1), suppressed]) await publish(MONITOR_MATCHES.name, MONITOR, match);
  await expectRows('SELECT thing_id, language FROM items FINAL ORDER BY thing_id', [
    { thing_id: 't1_1', language: '' },
    { thing_id: 't1_2', language: 'de' },
  ]);
  await expectRows('SELECT seq, suppressed, suppressed_reason FROM matches FINAL ORDER BY seq', [
    { seq: 1, suppressed: false, suppressed_reason: '' },
    { seq: 2, suppressed: true, suppressed_reason: 'thread_once' },
  ]);
});

test('a restarted archiver continues after its committed offsets and repeats nothing visible', async () => {
  await publish(FORUM_COMMENTS.name, 't1_1', commentItem(1, 'first'));
  await pipeline.start('archiver');
  await expectRows('SELECT body FROM items FINAL ORDER BY thing_id', [{ body: 'first' }]);
  await pipeline.stopLast();
  await publish(FORUM_COMMENTS.name, 't1_2', commentItem(2, 'second'));
  await pipeline.start('archiver');
  await expectRows('SELECT body FROM items FINAL ORDER BY thing_id', [{ body: 'first' }, { body: 'second' }]);
});

test.each(['removed after it was archived', 'removed before it was archived'])(
  'a thing %s is blank everywhere',
  async (when) => {
    await pipeline.start('archiver');
    const item = { ...commentItem(1, 'regretted'), language: 'de' };
    await storeItems(pipeline.db.pool, [itemContent.parse(item)]);
    const removal = { v: 1, thing_id: item.thing_id, removed_at: new Date().toISOString() };
    if (when.includes('after')) {
      await publish(FORUM_COMMENTS.name, item.thing_id, item);
      await expectRows('SELECT body FROM items FINAL', [{ body: 'regretted' }]);
      await publish(FORUM_REMOVALS.name, item.thing_id, removal);
    } else {
      await publish(FORUM_REMOVALS.name, item.thing_id, removal);
      await eventually(
        'the removal is noted',
        async () => (await pipeline.db.pool.query('SELECT 1 FROM removed_things')).rowCount === 1,
      );
      await publish(FORUM_COMMENTS.name, item.thing_id, item);
    }
    await expectRows('SELECT author, title, body, ver, subreddit, language FROM items FINAL', [
      { author: '[deleted]', title: '', body: '', ver: 2, subreddit: 'test', language: 'de' },
    ]);
    await eventually('the content of the matches is blank', async () => {
      const { rows: contents } = await pipeline.db.pool.query<{ body: string }>('SELECT body FROM matched_items');
      return contents[0]?.body === '';
    });
    // When it is published again, it stays blank.
    await publish(FORUM_COMMENTS.name, item.thing_id, item);
    await publish(FORUM_COMMENTS.name, 't1_2', commentItem(2, 'later'));
    await expectRows('SELECT body FROM items FINAL ORDER BY thing_id', [{ body: '' }, { body: 'later' }]);
  },
);
