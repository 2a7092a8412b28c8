import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { matchId } from '../../../shared/rules/identifiers.ts';
import { insertMonitorEvent } from '../../../shared/deliveries/event-deliveries.ts';
import { HOSTILE, isEscaped, MonitorPagesBench } from '../../support/dashboard/monitor-pages-bench.ts';
import { EventStreamClient } from '../../support/clients/event-stream-client.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { recordMatches } from '../../support/samples/live-tail-matches.ts';

let bench: MonitorPagesBench;
beforeAll(async () => {
  bench = await MonitorPagesBench.create({ liveTail: { timing: { pollMs: 50 } } });
});
afterAll(() => bench.drop());
beforeEach(() => bench.reset());

describe('the list and a monitor', () => {
  test('list every monitor with its state, rule and matches, and pause, resume and delete it', async () => {
    const id = await bench.monitor({ name: HOSTILE, keywords: ['rust', HOSTILE.slice(0, 90)] });
    await bench.record(id);
    const list = await bench.person.get('/monitors');
    expect(isEscaped(list)).toBe(true);
    expect(list.html).toContain('1 of 100 monitors');
    expect(list.html).toMatch(/<td class="number"[^>]*>1<\/td>/);
    expect(list.html).toContain('Running');
    expect((await bench.person.post(`/monitors/${id}/pause`)).location).toBe(`/dashboard/monitors/${id}?done=paused`);
    expect((await bench.person.get('/monitors')).html).toContain('for 10 credits');
    expect((await bench.person.post(`/monitors/${id}/resume`)).location).toBe(`/dashboard/monitors/${id}?done=resumed`);
    expect(await bench.balance()).toBe(980);
    expect((await bench.person.post(`/monitors/${id}/delete`)).location).toBe('/dashboard/monitors?done=deleted');
    expect((await bench.person.get('/monitors?done=deleted')).html).toContain('The monitor was deleted.');
    expect((await bench.person.get(`/monitors/${id}`)).status).toBe(404);
  });

  test('show matches with marks, whatever the forum wrote, and page and filter them', async () => {
    const id = await bench.monitor({ keywords: ['rust'] });
    await bench.record(id, {
      kind: 'post',
      title: `Rust ${HOSTILE}`,
      body: `${HOSTILE} about rust`,
      author: HOSTILE,
      subreddit: HOSTILE,
    });
    const page = await bench.person.get(`/monitors/${id}`);
    expect(page.status).toBe(200);
    expect(isEscaped(page)).toBe(true);
    expect(page.html).toContain('<mark>Rust</mark> &lt;script&gt;');
    expect(page.html).toContain('about <mark>rust</mark>');
    expect(page.html).toContain(`data-stream="/dashboard/monitors/${id}/stream?after=${matchId(id, 1)}"`);
    await bench.db.pool.query(`UPDATE matched_items SET permalink = 'javascript:alert(1)'`);
    expect((await bench.person.get(`/monitors/${id}`)).html).not.toContain('javascript:');
    for (let n = 0; n < 30; n++) await bench.record(id, { subreddit: n === 3 ? 'third' : 'metals' });
    const first = await bench.person.get(`/monitors/${id}`);
    expect(first.html.match(/<li id="mat_/g)).toHaveLength(25);
    const older = /href="\/dashboard(\/monitors\/[^"]+before=[^"]+)"/.exec(first.html)![1]!;
    const second = await bench.person.get(older.replaceAll('&amp;', '&'));
    expect(second.html.match(/<li id="mat_/g)).toHaveLength(6);
    expect(second.html).not.toContain('data-stream');
    const filtered = await bench.person.get(`/monitors/${id}?subreddit=third&since=2020-01-01T00:00`);
    expect(filtered.html.match(/<li id="mat_/g)).toHaveLength(1);
    const wrong = await bench.person.get(`/monitors/${id}?since=yesterday&before=x`);
    expect([wrong.status, wrong.html]).toEqual([400, expect.stringContaining('must be') as string]);
  });

  test('explain why a match matched, and why it was suppressed', async () => {
    const id = await bench.monitor({
      keywords: ['rust', 'go'],
      require: [['iron', 'steel']],
      exclude: ['gold'],
      thread_once: true,
    });
    await bench.record(id, { postId: 'p', body: `Iron & rust ${HOSTILE}` });
    await bench.record(id, { postId: 'p', body: 'iron, rust' });
    const page = await bench.person.get(`/monitors/${id}/matches/${matchId(id, 1)}`);
    expect(isEscaped(page)).toBe(true);
    expect(page.html).toContain('Iron &amp; <mark>rust</mark>');
    const second = await bench.person.get(`/monitors/${id}/matches/${matchId(id, 2)}`);
    expect(second.html).toContain('It was stored but not sent: its thread already had a match that day.');
    await bench.api.call(bench.owner.apiKey, 'PATCH', `/v1/monitors/${id}`, {
      keywords: ['go'],
      subreddits: ['elsewhere'],
    });
    const changed = await bench.person.get(`/monitors/${id}/matches/${matchId(id, 1)}`);
    expect(changed.html).toContain('The current rule would not match it');
    expect((await bench.person.get(`/monitors/${id}/explain`)).status).toBe(200);
    const nothing = await bench.person.get(`/monitors/${id}/explain?thing=${encodeURIComponent(HOSTILE)}`);
    expect([nothing.status, isEscaped(nothing), nothing.html.includes('id="thing-problem"')]).toEqual([
      400,
      true,
      true,
    ]);
    for (const other of [matchId(id, 3), matchId('mon_000000000000', 1), 'x', matchId(id, 0)]) {
      expect((await bench.person.get(`/monitors/${id}/matches/${other}`)).status).toBe(404);
    }
  });
});

describe('the webhook', () => {
  test('is tested, with what the receiver answered', async () => {
    const id = await bench.monitor({ name: HOSTILE, webhook_url: bench.receiver.url });
    const page = await bench.person.get(`/monitors/${id}/webhook`);
    expect(isEscaped(page)).toBe(true);
    expect(page.html).toContain(bench.receiver.url);
    expect((await bench.person.post(`/monitors/${id}/test`)).html).toContain('Response 204. The sample was delivered.');
    bench.answer = 418;
    expect((await bench.person.post(`/monitors/${id}/test`)).html).toContain('Response 418: expected 2xx.');
    const without = await bench.monitor();
    const refused = await bench.person.post(`/monitors/${without}/test`);
    expect([refused.status, refused.html]).toEqual([
      400,
      expect.stringContaining('the monitor has no webhook') as string,
    ]);
  });

  test('is added where deliveries would be shown, and a change of it leaves the rule', async () => {
    const id = await bench.monitor({ keywords: ['rust'], digest: 'daily' });
    const before = await bench.read(id);
    expect((await bench.person.get(`/monitors/${id}/deliveries`)).html).toContain(
      `action="/dashboard/monitors/${id}/webhook"`,
    );
    const save = (fields: Record<string, string>) => bench.person.post(`/monitors/${id}/webhook`, fields);
    const refused = await save({ webhook_url: 'ftp://x', notify: 'on' });
    expect([refused.status, refused.html]).toEqual([400, expect.stringMatching(/id="webhook_url-problem"/) as string]);
    expect(refused.html).toContain('value="ftp://x"');
    expect(await bench.read(id)).toEqual(before);
    const saved = await save({ webhook_url: bench.receiver.url, spike_webhook: 'on', notify: 'on' });
    expect(saved.location).toBe(`/dashboard/monitors/${id}/webhook?done=delivery`);
    const { digest: _digest, ...kept } = before;
    expect(await bench.read(id)).toMatchObject({
      ...kept,
      updated_at: expect.any(String) as string,
      webhook_url: bench.receiver.url,
      webhook_kind: 'generic',
      spike_webhook: true,
      notify: 'email',
    });
    expect((await save({})).status).toBe(400);
    expect(await bench.read(id)).toMatchObject({ webhook_url: bench.receiver.url });
    await save({ webhook_url: '' });
    expect(await bench.read(id)).toMatchObject({ webhook_url: null, webhook_kind: null });
  });

  test('gets a new secret, which is shown once and signs', async () => {
    const id = await bench.monitor({ webhook_url: bench.receiver.url });
    const rotated = await bench.person.post(`/monitors/${id}/rotate-secret`);
    expect(rotated.html).toMatch(/id="secret">whsec_/);
    const page = await bench.person.get(`/monitors/${id}/webhook`);
    const once = /name="once" value="(\w{20})"/.exec(page.html)![1]!;
    const secrets = [];
    for (let pressed = 0; pressed < 2; pressed++) {
      const { html } = await bench.person.post(`/monitors/${id}/rotate-secret`, { once });
      secrets.push(/id="secret">(whsec_[^<]+)/.exec(html)![1]);
    }
    expect(secrets[1]).toBe(secrets[0]);
    expect((await bench.person.get(`/monitors/${id}/webhook`)).html).not.toMatch(/whsec_\w/);
  });

  test('shows each delivery with the receiver’s answer, and sends again', async () => {
    const id = await bench.monitor({ webhook_url: bench.receiver.url });
    await bench.record(id);
    await bench.failDelivery(id, HOSTILE);
    const payload = { at: '2026-03-04T13:00:00.000Z', interval: 'hour', count: 1_057, expected: 4, score: 11.2 };
    await insertMonitorEvent(bench.db.pool, { monitorId: id, kind: 'monitor.spike', key: payload.at, payload });
    const log = await bench.person.get(`/monitors/${id}/deliveries`);
    expect(isEscaped(log)).toBe(true);
    expect(log.html).toContain('<code>&lt;script&gt;alert(1)');
    expect(log.html).toContain('failed permanently');
    expect(log.html).toContain('Spike: 1,057 matches');
    expect((await bench.person.get(`/monitors/${id}`)).html).toContain('Send again');
    expect((await bench.person.get(`/monitors/${id}/deliveries?status=delivered`)).html).toContain('No attempts.');
    expect((await bench.person.get(`/monitors/${id}/deliveries?match=x`)).status).toBe(400);
    const resent = await bench.person.post(`/monitors/${id}/redeliver`, { match_ids: matchId(id, 1) });
    expect(resent.location).toBe(`/dashboard/monitors/${id}/deliveries?done=resent&queued=1`);
    expect((await bench.person.post(`/monitors/${id}/redeliver`, { status: 'failed' })).location).toContain('queued=0');
    const hastened = await bench.person.post(`/monitors/${id}/redeliver`, { status: 'pending' });
    const notice = await bench.person.get(hastened.location!.replace('/dashboard', ''));
    expect(notice.html).toMatch(/are already being sent|queued\.|Nothing to send\./);
    expect(notice.html).toContain('Send waiting matches now');
  });
});

test('mutes are added from a match or by name, and removed', async () => {
  const id = await bench.monitor();
  await bench.record(id, { subreddit: 'Metals', author: 'smith', postId: 'p1' });
  const muted = await bench.person.post(`/monitors/${id}/mutes`, { kind: 'thread', value: 'p1' });
  expect(muted.location).toBe(`/dashboard/monitors/${id}/mutes?done=muted`);
  const list = await bench.person.get(`/monitors/${id}/mutes?done=muted`);
  expect(list.html).toContain('Thread t3_p1');
  expect((await bench.person.get(`/monitors/${id}/matches/${matchId(id, 1)}`)).html).toContain('It is muted now');
  const wrong = await bench.person.post(`/monitors/${id}/mutes`, { kind: 'author', value: HOSTILE });
  expect(wrong.status).toBe(400);
  expect(isEscaped(wrong)).toBe(true);
  expect(wrong.html).toContain('id="value-problem"');
  const mute = /mutes\/(mute_\w+)\/delete/.exec(list.html)![1]!;
  await bench.person.post(`/monitors/${id}/mutes/${mute}/delete`);
  expect((await bench.person.get(`/monitors/${id}/mutes`)).html).not.toContain('t3_p1');
});

test('another account’s monitor is not found by any page or action', async () => {
  const stranger = await bench.api.account();
  const { id } = await bench.api.monitor(stranger.apiKey, { webhook_url: bench.receiver.url });
  await bench.record(id);
  const pages = [
    '',
    '/edit',
    '/webhook',
    '/deliveries',
    '/mutes',
    '/export',
    '/export/csv',
    '/explain',
    '/stream',
    '/trends',
    '/earlier',
    `/matches/${matchId(id, 1)}`,
  ];
  for (const page of pages)
    expect([page, (await bench.person.get(`/monitors/${id}${page}`)).status]).toEqual([page, 404]);
  const actions: [string, Record<string, string>][] = [
    ['/edit', { name: 'x', keywords: 'rust', posts: 'on' }],
    ['/pause', {}],
    ['/resume', {}],
    ['/delete', {}],
    ['/test', {}],
    ['/rotate-secret', {}],
    ['/redeliver', { status: 'failed' }],
    ['/mutes', { kind: 'author', value: 'ana' }],
    ['/mutes/mute_000000000000/delete', {}],
    ['/feed', {}],
    ['/earlier', { hours: '24' }],
    ['/feed/revoke', {}],
  ];
  for (const [action, fields] of actions) {
    expect([action, (await bench.person.post(`/monitors/${id}${action}`, fields)).status]).toEqual([action, 404]);
  }
  expect((await bench.api.call(stranger.apiKey, 'GET', `/v1/monitors/${id}`)).body.monitor).toMatchObject({
    status: 'active',
  });
  expect((await bench.person.get('/monitors/%00/edit')).status).toBe(404);
});

describe('the page of exports', () => {
  let id: string;

  beforeEach(async () => {
    id = await bench.monitor({ name: HOSTILE });
    await bench.record(id, { body: 'Iron, and rust' });
  });

  const page = () => bench.person.get(`/monitors/${id}/export`);

  const addressIn = (text: string, format: string) =>
    new RegExp(`/feeds/feed_[0-9a-z]{32}\\.${format}`).exec(text)?.[0] ?? 'no address';

  test.each(['csv', 'ndjson', 'parquet'])('all matches are downloaded as %s', async (format) => {
    const shown = await page();
    expect([shown.status, isEscaped(shown)]).toEqual([200, true]);
    expect(shown.html).toContain(`href="/dashboard/monitors/${id}/export/${format}" download`);
    const url = `${bench.api.url}/dashboard/monitors/${id}/export/${format}`;
    const file = await fetch(url, { headers: { cookie: bench.person.cookie } });
    expect(file.headers.get('content-disposition')).toBe(`attachment; filename="matches-${id}.${format}"`);
    const text = await file.text();
    if (format === 'parquet') expect([text.slice(0, 4), text.slice(-4)]).toEqual(['PAR1', 'PAR1']);
    else expect(text).toContain('Iron, and rust');
  });

  test('today’s matches are downloaded alone', async () => {
    await bench.record(id, { body: 'Older rust' });
    await bench.db.pool.query(
      "UPDATE matches SET created_at = created_at - interval '2 days' WHERE monitor_id = $1 AND seq = 1",
      [id],
    );
    const { html } = await bench.person.get(`/monitors/${id}/export?period=today`);
    const [, link] = /href="(\/dashboard\/[^"]+\/csv\?from=[^"]+)" download/.exec(html)!;
    const file = await fetch(bench.api.url + link!, { headers: { cookie: bench.person.cookie } });
    const lines = (await file.text()).trim().split('\r\n');
    expect([lines.length, lines[1]]).toEqual([2, expect.stringContaining('Older rust')]);
  });

  test('a feed is made, shown once, replaced and revoked', async () => {
    expect((await page()).html).toContain('Create a feed');
    const made = await bench.person.post(`/monitors/${id}/feed`);
    const first = addressIn(made.html, 'atom');
    expect((await fetch(bench.api.url + first)).status).toBe(200);
    expect((await fetch(bench.api.url + addressIn(made.html, 'json'))).status).toBe(200);
    const later = await page();
    expect([later.html.includes('feed_'), later.html.includes('Create new URLs')]).toEqual([false, true]);
    const second = addressIn((await bench.person.post(`/monitors/${id}/feed`)).html, 'atom');
    const statuses = async () =>
      Promise.all([first, second].map(async (path) => (await fetch(bench.api.url + path)).status));
    expect(await statuses()).toEqual([404, 200]);
    const revoked = await bench.person.post(`/monitors/${id}/feed/revoke`);
    expect(revoked.location).toBe(`/dashboard/monitors/${id}/export?done=revoked`);
    expect(await statuses()).toEqual([404, 404]);
  });
});

describe('earlier matches', () => {
  async function runsOf(id: string): Promise<{ hours: number; deliver: boolean; max_credits: number | null }[]> {
    const { rows } = await bench.db.pool.query<{ hours: number; deliver: boolean; max_credits: number | null }>(
      `SELECT round(extract(epoch FROM to_at - from_at) / 3600)::int AS hours, deliver, max_credits FROM backfills
     WHERE monitor_id = $1`,
      [id],
    );
    return rows;
  }

  test('earlier matches are asked for with their price beside the button, and their progress is shown', async () => {
    const id = await bench.monitor({ name: HOSTILE, keywords: ['rust'] });
    const page = await bench.person.get(`/monitors/${id}/earlier`);
    expect(isEscaped(page)).toBe(true);
    expect(page.html).toContain('Costs 1 credit per 100 matches, rounded up');
    const asked = await bench.person.post(`/monitors/${id}/earlier`, { hours: '168', max_credits: '7' });
    expect(asked.location).toBe(`/dashboard/monitors/${id}/earlier?done=started`);
    expect(await runsOf(id)).toEqual([{ hours: 168, deliver: false, max_credits: 7 }]);
    const again = await bench.person.post(`/monitors/${id}/earlier`, { hours: '24' });
    expect(again.status).toBe(400);
    expect(await runsOf(id)).toHaveLength(1);
  });

  test('a run is cancelled by a button, which is gone then', async () => {
    const id = await bench.monitor({ keywords: ['rust'] });
    await bench.person.post(`/monitors/${id}/earlier`, { hours: '24' });
    const running = await bench.person.get(`/monitors/${id}/earlier`);
    const [, run] = /name="run" value="(bf_\w+)"/.exec(running.html)!;
    const cancelled = await bench.person.post(`/monitors/${id}/earlier/cancel`, { run: run! });
    expect(cancelled.location).toBe(`/dashboard/monitors/${id}/earlier?done=cancelled`);
    expect((await bench.person.post(`/monitors/${id}/earlier/cancel`, { run: 'bf_0' })).status).toBe(404);
  });

  test('a new monitor finds earlier matches when its form says so', async () => {
    const form = { name: 'new', keywords: 'rust', posts: 'on', comments: 'on' };
    await bench.person.post('/monitors/new', { ...form, backfill_hours: '720' });
    const { rows } = await bench.db.pool.query<{ id: string }>(`SELECT id FROM monitors WHERE name = 'new'`);
    expect(await runsOf(rows[0]!.id)).toEqual([{ hours: 720, deliver: false, max_credits: null }]);
    await bench.person.post('/monitors/new', { ...form, name: 'plain', backfill_hours: '' });
    const plain = await bench.db.pool.query<{ id: string }>(`SELECT id FROM monitors WHERE name = 'plain'`);
    expect(await runsOf(plain.rows[0]!.id)).toEqual([]);
  });
});

describe('the stream of matches', () => {
  let id: string;

  beforeEach(async () => {
    id = await bench.monitor();
  });

  /** Opens the stream of the monitor's page. The cookie alone counts. */
  const open = (headers: Record<string, string> = {}, query = '') =>
    EventStreamClient.open(`${bench.api.url}/dashboard/monitors/${id}/stream${query}`, 'none', {
      cookie: bench.person.cookie,
      accept: 'text/event-stream',
      ...headers,
    });

  const items = (client: EventStreamClient) => client.events.filter(({ type }) => type === 'item');

  const endOf = (client: EventStreamClient) =>
    eventually('the stream says why it ends', () => client.events.find(({ type }) => type === 'end')?.data);

  test('sends the markup of each match once, and goes on after the last one', async () => {
    await recordMatches(bench.db.pool, id, 2);
    const client = await open({}, `?after=${matchId(id, 1)}`);
    await recordMatches(bench.db.pool, id, 1);
    await eventually('two entries', () => items(client).length === 2);
    const [second, third] = items(client);
    expect([second!.id, third!.id]).toEqual([matchId(id, 2), matchId(id, 3)]);
    const { id: element, markup } = JSON.parse(third!.data) as { id: string; markup: string };
    expect(element).toBe(matchId(id, 3));
    expect(markup).toMatch(new RegExp(`^<li id="${element}"`));
    expect(markup).toContain('name="form_token"');
    await client.close();
    const again = await open({ 'last-event-id': matchId(id, 2) }, `?after=${matchId(id, 1)}`);
    await eventually('one entry', () => items(again).length === 1);
    expect(items(again)[0]!.id).toBe(matchId(id, 3));
    await again.close();
  });

  test('ends when the session was revoked, and sends nothing recorded after it', async () => {
    const client = await open();
    await eventually('it is open', () => client.status === 200);
    await bench.db.pool.query('UPDATE dashboard_sessions SET ended_at = service_now() WHERE id = $1', [
      bench.person.sessionId,
    ]);
    await recordMatches(bench.db.pool, id, 1);
    expect(await endOf(client)).toBe(JSON.stringify({ reason: 'session_ended' }));
    expect(items(client)).toEqual([]);
    await client.close();
  });

  test('asks for a session by 401, refuses wrong cursors, and shares the slots of the account', async () => {
    expect((await open({ cookie: 'dashboard_session=x' })).status).toBe(401);
    expect((await open({}, '?after=x')).status).toBe(400);
    const clients = await Promise.all(Array.from({ length: 10 }, () => open()));
    expect(clients.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    const byKey = await EventStreamClient.open(`${bench.api.url}/v1/monitors/${id}/stream`, bench.owner.apiKey);
    expect(byKey.status).toBe(429);
    await Promise.all(clients.map((client) => client.close()));
  });
});

test('the page of a webhook does not keep a detected kind, and shows one that was chosen', async () => {
  const id = await bench.monitor({ webhook_url: bench.receiver.url });
  const select = async () => {
    const { html } = await bench.person.get(`/monitors/${id}/webhook`);
    const [, options = ''] = /<select[^>]*name="webhook_kind"[^>]*>(.*?)<\/select>/s.exec(html) ?? [];
    const chosen = /<option value="(\w*)"\s+selected/.exec(options)?.[1];
    return [chosen, /<details open>\s*<summary>Digests/.test(html)];
  };
  expect(await select()).toEqual(['', false]);
  const slack = 'https://hooks.slack.com/services/T00/B00/x';
  await bench.person.post(`/monitors/${id}/webhook`, { webhook_url: slack, webhook_kind: '' });
  expect(await bench.read(id)).toMatchObject({ webhook_url: slack, webhook_kind: 'slack' });
  await bench.person.post(`/monitors/${id}/webhook`, { webhook_url: bench.receiver.url, webhook_kind: 'slack' });
  expect(await select()).toEqual(['slack', true]);
});
