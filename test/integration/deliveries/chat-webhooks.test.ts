import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { HOSTILE_TEXTS } from '../../support/samples/chat-matches.ts';
import { DeliveryBench } from '../../support/fixtures/deliveries/delivery-fixtures.ts';
import { answerAsDiscord, readDiscordMarkdown } from '../../support/fakes/strict-discord.ts';
import type { DiscordPayload } from '../../support/fakes/strict-discord.ts';
import { answerAsSlack, readMrkdwn, textsOf } from '../../support/fakes/strict-slack.ts';
import type { SlackPayload } from '../../support/fakes/strict-slack.ts';

let bench: DeliveryBench;
beforeAll(async () => {
  bench = await DeliveryBench.create();
});
afterEach(async () => {
  await bench.reset();
});
afterAll(async () => {
  await bench.db.drop();
});

interface Refusal {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/** A chat product on loopback that is as strict as documented; it answers with `refusals` first. */
async function startChat(kind: 'slack' | 'discord', refusals: Refusal[] = []) {
  const slack: SlackPayload[] = [];
  const discord: DiscordPayload[] = [];
  const problems: string[] = [];
  const receiver = await bench.startReceiver(({ body, path, headers }, response) => {
    const refusal = refusals.shift();
    if (refusal) {
      response.writeHead(refusal.status, refusal.headers).end(refusal.body);
      return;
    }
    if (headers['content-type'] !== 'application/json') problems.push(`content type ${headers['content-type']}`);
    const text = body.toString();
    const answer = kind === 'slack' ? answerAsSlack(text) : answerAsDiscord(path, text);
    if ('problem' in answer) problems.push(answer.problem);
    else if ('blocks' in answer.message) slack.push(answer.message);
    else discord.push(answer.message);
    response.writeHead(answer.status).end(answer.body);
  });
  const path = kind === 'slack' ? '/services/T1/B1/token' : '/api/webhooks/1/token?thread_id=7';
  return { url: receiver.url.replace('/hook', path), received: receiver.received, slack, discord, problems };
}

/** Adds a monitor of the kind with one match per text; every field of the match is that text. */
async function addHostileMatches(url: string, kind: string): Promise<string> {
  const texts = HOSTILE_TEXTS.map((text) => text.toWellFormed().replaceAll('\0', ''));
  const { id } = await bench.addMonitor(url, kind);
  await bench.addMatches(id, texts.length, '1 hour');
  await bench.db.pool.query(
    `UPDATE matched_items SET title = texts.text, author = texts.text, subreddit = texts.text,
       body = texts.text || ' rust ' || texts.text
     FROM unnest($1::text[]) WITH ORDINALITY AS texts (text, seq)
     WHERE thing_id = 't3_' || texts.seq`,
    [texts],
  );
  await bench.db.pool.query(`UPDATE monitors SET name = '<!channel> @everyone' WHERE id = $1`, [id]);
  await bench.db.pool.query('UPDATE matches SET next_attempt_at = service_now() WHERE monitor_id = $1', [id]);
  return id;
}

describe('hostile texts', () => {
  test('reach Slack without mention, foreign link or formatting', async () => {
    const chat = await startChat('slack');
    const id = await addHostileMatches(chat.url, 'slack');
    await bench.startDeliverer();
    expect(new Set(await bench.settled(id))).toEqual(new Set(['delivered']));
    expect(chat.problems).toEqual([]);
    expect(chat.slack).toHaveLength(HOSTILE_TEXTS.length);
    for (const message of chat.slack) {
      const readings = textsOf(message).map(readMrkdwn);
      const urls = readings.flatMap(({ links }) => links.map(({ url }) => url));
      expect(urls).toEqual([expect.stringMatching(/^https:\/\/forum\.example\/r\/metals\/comments\/\d+\/$/)]);
      expect(readings[1]!.bold).toEqual(['rust']);
      for (const { mentions, formatted } of readings) expect([...mentions, ...formatted]).toEqual([]);
    }
  });

  test('reach Discord without mention, foreign link or formatting, and with the answer awaited', async () => {
    const chat = await startChat('discord');
    const id = await addHostileMatches(chat.url, 'discord');
    await bench.startDeliverer();
    expect(new Set(await bench.settled(id))).toEqual(new Set(['delivered']));
    expect(chat.problems).toEqual([]);
    expect(chat.discord).toHaveLength(HOSTILE_TEXTS.length);
    expect(new Set(chat.received.map(({ path }) => path))).toEqual(
      new Set(['/api/webhooks/1/token?thread_id=7&wait=true']),
    );
    for (const { embeds, allowed_mentions } of chat.discord) {
      const { title, description, fields } = embeds[0]!;
      expect(allowed_mentions).toEqual({ parse: [] });
      expect(readDiscordMarkdown(description!)).toMatchObject({ bold: ['rust'], active: [] });
      for (const text of [title, ...fields.map(({ value }) => value)]) {
        expect(readDiscordMarkdown(text)).toMatchObject({ bold: [], active: [] });
      }
    }
  });
});

describe('too many requests', () => {
  const tooMany = (headers: Record<string, string>, body = '') => ({ status: 429, headers, body });
  test.each([
    ['Slack: its header', 'slack', tooMany({ 'Retry-After': '90' }, 'rate_limited'), 90],
    ['Slack: its body is ignored', 'slack', tooMany({ 'Retry-After': '90' }, '{"retry_after": 400}'), 90],
    ['Discord: its body', 'discord', tooMany({}, '{"message": "x", "retry_after": 91.5, "global": false}'), 91.5],
    ['Discord: its header', 'discord', tooMany({ 'Retry-After': '92' }, '<html>error 1015</html>'), 92],
    ['Discord: the longer', 'discord', tooMany({ 'Retry-After': '92' }, '{"retry_after": 92.75}'), 92.75],
    ['Discord: two hours at most', 'discord', tooMany({}, '{"retry_after": 1e9}'), 7_200],
    ['Discord: at least the wait of the retry schedule', 'discord', tooMany({}, '{"retry_after": 0.3}'), 30],
  ] as const)('are not repeated before the requested time: %s', async (_, kind, refusal, seconds) => {
    const chat = await startChat(kind, [refusal]);
    const { id } = await bench.addMonitor(chat.url, kind);
    await bench.addMatches(id, 1);
    // The clock of the process, by which the URL is held, moves on with that of the database.
    let passedMs = 0;
    await bench.db.freeze();
    await bench.startDeliverer({ random: () => 0, monotonic: () => performance.now() + passedMs });
    const state = await bench.firstState(id, ({ attempt }) => attempt === 1);
    expect(state.delivery_status).toBe('pending');
    expect(state.due_in).toBeCloseTo(seconds, 2);
    passedMs = (seconds + 1) * 1_000;
    await bench.db.freeze(`${seconds + 1} seconds`);
    expect(await bench.settled(id)).toEqual(['delivered']);
    expect([...chat.slack, ...chat.discord]).toHaveLength(1);
    expect(chat.problems).toEqual([]);
  });
});

test.each([
  ['slack', 403, 'action_prohibited'],
  ['slack', 410, 'channel_is_archived'],
  ['discord', 400, '{"message": "Invalid Form Body", "code": 50035, "retry_after": 60}'],
  ['discord', 410, ''],
] as const)('%s: %i is final', async (kind, status, body) => {
  const chat = await startChat(kind, [{ status, body }]);
  const { id } = await bench.addMonitor(chat.url, kind);
  await bench.addMatches(id, 1);
  await bench.startDeliverer();
  expect(await bench.settled(id)).toEqual(['failed']);
  expect(chat.received).toHaveLength(1);
  const { rows } = await bench.db.pool.query<Record<string, unknown>>(
    'SELECT status, response_excerpt FROM delivery_attempts WHERE monitor_id = $1',
    [id],
  );
  expect(rows).toEqual([{ status, response_excerpt: body === '' ? null : body }]);
});
