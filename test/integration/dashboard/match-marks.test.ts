import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MAX_MARKS, readMarkCounts } from '../../../shared/matches/match-marks.ts';
import { matchId } from '../../../shared/rules/identifiers.ts';
import { HOSTILE, isEscaped, MonitorPagesBench } from '../../support/dashboard/monitor-pages-bench.ts';
import { recordMatches } from '../../support/samples/live-tail-matches.ts';

let bench: MonitorPagesBench;
let id: string;
beforeAll(async () => {
  bench = await MonitorPagesBench.create();
});
afterAll(() => bench.drop());
beforeEach(async () => {
  await bench.reset();
  id = await bench.monitor({ keywords: ['rust', 'iron'] });
});

const page = async (query = '') => (await bench.person.get(`/monitors/${id}${query}`)).html;
/** The seqs of the entries of a page. @param of a class that they have */
const entriesOf = (html: string, of = '') =>
  [...html.matchAll(/<li id="mat_\w+_0*(\d+)" tabindex="-1" class="([^"]*)"/g)]
    .filter(([, , classes]) => of === '' || classes === of)
    .map(([, seq]) => Number(seq));
const mark = (seq: number, as: string, fields: Record<string, string> = {}) =>
  bench.person.post(`/monitors/${id}/marks`, { match: matchId(id, seq), mark: as, ...fields });
const markRead = (seq: number, monitor = id) =>
  bench.person.post(`/monitors/${monitor}/read`, { seen: matchId(id, seq) });

describe('unread matches', () => {
  test('are those after the last one that was seen, in the list, the lists of monitors and a filter', async () => {
    for (let n = 0; n < 3; n++) await bench.record(id);
    const first = await page();
    expect(entriesOf(first, 'unread')).toEqual([3, 2, 1]);
    expect(first).toContain('<span class="hidden">Unread.</span>');
    expect(entriesOf(await page(), 'unread'), 'a request for the page changes nothing').toEqual([3, 2, 1]);
    for (const list of ['', '/monitors']) expect((await bench.person.get(list)).html).toContain('3 new');
    const seen = await markRead(2);
    expect(seen.location).toBe(`/dashboard/monitors/${id}`);
    expect(entriesOf(await page(), 'unread')).toEqual([3]);
    expect(entriesOf(await page('?show=unread'))).toEqual([3]);
    expect((await bench.person.get('/monitors')).html).toContain('1 new');
    await markRead(1);
    expect(entriesOf(await page(), 'unread'), 'it never goes back').toEqual([3]);
    await markRead(900);
    expect(await page('?show=unread')).toContain('Nothing is unread');
    await bench.record(id);
    expect(entriesOf(await page('?show=unread')), 'a seq beyond the last match counts as that').toEqual([4]);
  });

  test('the position moves by itself only where all unread matches are shown', async () => {
    await recordMatches(bench.db.pool, id, 26);
    expect(await page()).not.toMatch(/id="mark-read"[^>]*data-auto/);
    await markRead(2);
    expect(await page()).toMatch(/id="mark-read"\s+data-auto/);
    expect(await page('?keyword=rust')).not.toContain('id="mark-read"');
  });
});

describe('marks', () => {
  test('a bookmark is set and removed; sent twice, it acts once', async () => {
    for (let n = 0; n < 2; n++) await bench.record(id);
    for (let sent = 0; sent < 2; sent++) {
      const answer = await mark(1, 'bookmarked', { view: 'show=unread&evil=1' });
      expect(answer.location).toBe(`/dashboard/monitors/${id}?show=unread#${matchId(id, 1)}`);
    }
    await Promise.all(Array.from({ length: 4 }, () => mark(1, 'bookmarked')));
    expect(await readMarkCounts(bench.db.pool, id)).toMatchObject({ bookmarked: 1, irrelevant: 0 });
    expect(entriesOf(await page('?show=bookmarked'))).toEqual([1]);
    expect(await page('?show=bookmarked')).toContain('aria-pressed="true"');
    for (let sent = 0; sent < 2; sent++) expect((await mark(1, 'none')).status).toBe(303);
    expect(await page('?show=bookmarked')).toContain('No bookmarks.');
  });

  test('what is not relevant is hidden everywhere but in its filter, with mutes in its place', async () => {
    await bench.record(id, { subreddit: 'Metals', author: 'smith', postId: 'p1', title: HOSTILE });
    await bench.record(id, { subreddit: 'jobs' });
    const answer = await mark(1, 'irrelevant', { view: 'keyword=rust' });
    expect(answer.location).toBe(`/dashboard/monitors/${id}?keyword=rust&hidden=${matchId(id, 1)}#${matchId(id, 1)}`);
    const place = await page(answer.location!.split(id)[1]!.split('#')[0]);
    expect(entriesOf(place, 'gone')).toEqual([1]);
    expect(isEscaped({ html: place } as never)).toBe(true);
    for (const offered of ['Undo', 'r/Metals', 'u/smith', 'this thread', 'Exclude a term']) {
      expect(place).toContain(offered);
    }
    for (const query of ['', '?show=unread', '?keyword=rust']) expect(entriesOf(await page(query))).toEqual([2]);
    expect(entriesOf(await page('?show=irrelevant'))).toEqual([1]);
    expect(await page()).toMatch(/data-count="irrelevant">1</);
    expect((await bench.person.get('/monitors')).html).toContain('1 new');
    await mark(1, 'bookmarked');
    expect(await readMarkCounts(bench.db.pool, id)).toMatchObject({ bookmarked: 1, irrelevant: 0, unread: 2 });
    const api = await bench.api.call(bench.owner.apiKey, 'GET', `/v1/monitors/${id}/matches`);
    expect((api.body.items as object[]).length).toBe(2);
  });

  test('with scripts, the response is the changed entry', async () => {
    await bench.record(id, { body: 'rust' });
    const entry = await mark(1, 'bookmarked', { part: 'entry' });
    expect(entry.status).toBe(200);
    expect(entry.html).toMatch(/^<li id="mat_/);
    expect(entry.html.trim()).toMatch(/<\/li>$/);
    expect((await mark(1, 'irrelevant', { part: 'entry' })).html).toContain('class="gone"');
    expect((await mark(1, 'irrelevant', { part: 'entry', view: 'show=irrelevant' })).html).not.toContain(
      'class="gone"',
    );
  });

  test('pages go on past what is hidden, and keep their filter', async () => {
    await recordMatches(bench.db.pool, id, 60);
    for (let seq = 31; seq <= 60; seq++) {
      await bench.db.pool.query(`INSERT INTO match_marks VALUES ($1, $2, 'irrelevant')`, [id, seq]);
    }
    const first = await page();
    expect(entriesOf(first)).toEqual(Array.from({ length: 25 }, (_, n) => 30 - n));
    expect(first, 'the stream begins after the newest match, shown or not').toContain(`?after=${matchId(id, 60)}"`);
    expect(first).toContain(`before=${matchId(id, 6)}`);
    expect(entriesOf(await page(`?before=${matchId(id, 6)}`))).toEqual([5, 4, 3, 2, 1]);
    expect(entriesOf(await page('?show=irrelevant'))).toEqual(Array.from({ length: 25 }, (_, n) => 60 - n));
    expect(entriesOf(await page(`?show=irrelevant&before=${matchId(id, 36)}`))).toEqual([35, 34, 33, 32, 31]);
  });

  test('a monitor has a bounded number of bookmarks', async () => {
    await bench.record(id);
    await bench.db.pool.query(
      `INSERT INTO match_marks SELECT $1, n, 'bookmarked' FROM generate_series(2, $2::int + 1) AS n`,
      [id, MAX_MARKS.bookmarked],
    );
    const refused = await mark(1, 'bookmarked');
    expect([refused.status, refused.html]).toEqual([400, expect.stringContaining('1,000 bookmarks') as string]);
    expect((await mark(1, 'irrelevant')).status).toBe(303);
  });

  test('nothing is marked of another account, or that does not exist', async () => {
    const stranger = await bench.api.account();
    const { id: other } = await bench.api.monitor(stranger.apiKey);
    await bench.record(other);
    await bench.record(id);
    const theirs = matchId(other, 1);
    const attempts: [path: string, fields: Record<string, string>][] = [
      [`/monitors/${other}/marks`, { match: theirs, mark: 'bookmarked' }],
      [`/monitors/${other}/marks`, { match: theirs, mark: 'none' }],
      [`/monitors/${id}/marks`, { match: theirs, mark: 'bookmarked' }],
      [`/monitors/${id}/marks`, { match: matchId(id, 2), mark: 'irrelevant' }],
      [`/monitors/${id}/marks`, { match: matchId(id, 999_999_999_999), mark: 'none' }],
      [`/monitors/${id}/marks`, { match: HOSTILE, mark: 'bookmarked' }],
      [`/monitors/${id}/marks`, { match: `${matchId(id, 1)}\0`, mark: 'bookmarked' }],
      [`/monitors/${id}/marks`, { mark: 'bookmarked' }],
      [`/monitors/${other}/read`, { seen: theirs }],
      [`/monitors/${id}/read`, { seen: theirs }],
      [`/monitors/${id}/read`, { seen: HOSTILE }],
      [`/monitors/%00/marks`, { match: theirs, mark: 'bookmarked' }],
    ];
    for (const [path, fields] of attempts) {
      const answer = await bench.person.post(path, fields);
      expect([path, fields, answer.status, isEscaped(answer)]).toEqual([path, fields, 404, true]);
    }
    expect((await mark(1, HOSTILE)).status).toBe(400);
    expect((await bench.person.post(`/monitors/${id}/marks`, { form_token: 'x' })).status).not.toBe(200);
    expect(
      (await bench.db.pool.query('SELECT FROM match_marks WHERE monitor_id = ANY ($1)', [[id, other]])).rows,
    ).toEqual([]);
    expect((await bench.db.pool.query('SELECT FROM match_positions WHERE monitor_id = $1', [other])).rows).toEqual([]);
  });
});

test('filters are links: each is set and removed by one, and keeps the others', async () => {
  for (const subreddit of ['jobs', 'Metals', 'jobs']) await bench.record(id, { subreddit });
  const all = await page();
  expect(all).toContain(`href="/dashboard/monitors/${id}?subreddit=Metals"`);
  const filtered = await page('?show=unread&subreddit=jobs&since=2020-01-01T00%3A00');
  expect(entriesOf(filtered)).toEqual([3, 1]);
  expect(filtered).toContain(`href="/dashboard/monitors/${id}?show=unread&amp;since=2020-01-01T00%3A00"`);
  expect(filtered).toContain(`href="/dashboard/monitors/${id}?show=unread&amp;subreddit=jobs"`);
  const hostile = await bench.person.get(`/monitors/${id}?keyword=${encodeURIComponent(HOSTILE)}&show=x&hidden=x`);
  expect([hostile.status, isEscaped(hostile)]).toEqual([200, true]);
});

test('the marks of a deleted match are not shown before they are swept', async () => {
  for (let n = 0; n < 2; n++) await bench.record(id);
  await mark(1, 'bookmarked');
  await bench.db.pool.query('DELETE FROM matches WHERE monitor_id = $1 AND seq = 1', [id]);
  expect(await readMarkCounts(bench.db.pool, id)).toMatchObject({ bookmarked: 0 });
  expect((await mark(1, 'none')).status).toBe(404);
});
