import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { matchId } from '../../../shared/domain/identifiers.ts';
import { HOSTILE, isEscaped, MonitorPagesBench } from '../../support/dashboard/monitor-pages-bench.ts';

let bench: MonitorPagesBench;
beforeAll(async () => {
  bench = await MonitorPagesBench.create();
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
    expect(list.html).toMatch(/<td class="number">1<\/td>/);
    expect(list.html).toContain('Running');
    expect((await bench.person.post(`/monitors/${id}/pause`)).location).toBe(`/dashboard/monitors/${id}?done=paused`);
    expect((await bench.person.get('/monitors')).html).toContain('for 10 credits');
    expect((await bench.person.post(`/monitors/${id}/resume`)).location).toBe(`/dashboard/monitors/${id}?done=resumed`);
    expect(await bench.balance()).toBe(980);
    expect((await bench.person.post(`/monitors/${id}/delete`)).location).toBe('/dashboard/monitors?done=deleted');
    expect((await bench.person.get('/monitors?done=deleted')).html).toContain('The monitor is deleted.');
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
    expect(page.html).toMatch(
      /<th scope="row">rust<\/th>\s*<td>any of these<\/td>\s*<td>\s*whole word\s*<\/td>\s*<td>\s*<strong>text, character 8/,
    );
    expect(page.html).toMatch(/<th scope="row">go<\/th>[^]*?not in it/);
    expect(page.html).toMatch(/<th scope="row">iron<\/th>\s*<td>and group 1<\/td>/);
    expect(page.html).toContain('Its kind is watched.');
    const second = await bench.person.get(`/monitors/${id}/matches/${matchId(id, 2)}`);
    expect(second.html).toContain('It was kept but not sent: its thread had a match that day.');
    await bench.api.call(bench.owner.apiKey, 'PATCH', `/v1/monitors/${id}`, {
      keywords: ['go'],
      subreddits: ['elsewhere'],
    });
    const changed = await bench.person.get(`/monitors/${id}/matches/${matchId(id, 1)}`);
    expect(changed.html).toContain('Today’s rule would not match it');
    expect(changed.html).toContain('Its community is not among the watched ones.');
    expect(changed.html).toContain('<mark>rust</mark>');
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
    expect((await bench.person.post(`/monitors/${id}/test`)).html).toContain(
      'It answered 204. The sample was delivered.',
    );
    bench.answer = 418;
    expect((await bench.person.post(`/monitors/${id}/test`)).html).toContain(
      'It answered 418: its answer is not a 2xx.',
    );
    const without = await bench.monitor();
    const refused = await bench.person.post(`/monitors/${without}/test`);
    expect([refused.status, refused.html]).toEqual([
      400,
      expect.stringContaining('the monitor has no webhook') as string,
    ]);
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
    const log = await bench.person.get(`/monitors/${id}/deliveries`);
    expect(isEscaped(log)).toBe(true);
    expect(log.html).toContain('<code>&lt;script&gt;alert(1)');
    expect(log.html).toContain('failed for good');
    expect((await bench.person.get(`/monitors/${id}/deliveries?status=delivered`)).html).toContain('No attempts here.');
    expect((await bench.person.get(`/monitors/${id}/deliveries?match=x`)).status).toBe(400);
    const resent = await bench.person.post(`/monitors/${id}/redeliver`, { match_ids: matchId(id, 1) });
    expect(resent.location).toBe(`/dashboard/monitors/${id}/deliveries?done=resent&queued=1`);
    expect((await bench.person.post(`/monitors/${id}/redeliver`, { status: 'failed' })).location).toContain('queued=0');
    expect((await bench.person.get(`/monitors/${id}/deliveries?done=resent&queued=1`)).html).toContain('1 queued.');
  });
});

test('mutes are added from a match or by name, and removed', async () => {
  const id = await bench.monitor();
  await bench.record(id, { subreddit: 'Metals', author: 'smith', postId: 'p1' });
  const { html } = await bench.person.get(`/monitors/${id}`);
  expect(html).toMatch(/name="kind" value="subreddit" \/>\s*<input type="hidden" name="value" value="Metals"/);
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
