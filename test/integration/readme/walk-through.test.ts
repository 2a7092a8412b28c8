import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Browser } from '../../support/clients/oauth-browser.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { Installation } from '../../support/children/installation.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** The README and the guides: every command in them is run here. */
const PAGES = ['README.md', ...globSync('docs/guide/*.md', { cwd: ROOT })]
  .map((page) => readFileSync(join(ROOT, page), 'utf8'))
  .join('\n');
const STREAM_ASKED = 'curl -sN --max-time 5 "$API/v1/monitors/$MONITOR/stream" -H "Authorization: Bearer $KEY"';
let installation: Installation;
let receiver: ChildProcess | undefined;

beforeAll(async () => {
  installation = await Installation.prepare({ SIGNUP_DNS_CHECK: '0' });
  await installation.start();
});
afterAll(async () => {
  receiver?.kill('SIGKILL');
  await installation.remove();
});

/** Returns the fenced block that follows a marker, the same on every page that has it. */
function block(marker: string): string {
  const found = PAGES.matchAll(new RegExp(`<!-- ${marker} -->\\s*\`\`\`\\w+\\n([^]*?)\`\`\``, 'g'));
  const texts = new Set([...found].map(([, text]) => text!));
  expect(texts.size, marker).toBe(1);
  return [...texts][0]!;
}

/**
 * Runs blocks of the walk-through in one shell, as a reader does, on this installation's address and data directory.
 */
function walk(blocks: string[], receiverPort = 9000): string {
  const script = blocks
    .map(block)
    .join('\n')
    .replaceAll('http://localhost:8080', installation.url)
    .replaceAll('.data/', `${installation.dataDir}/`)
    .replaceAll(':9000/', `:${receiverPort}/`)
    // The stream may last a minute, and ends after the first one that it brings.
    .replace(
      STREAM_ASKED,
      `${STREAM_ASKED.replace('--max-time 5', '--max-time 60')} | sed '/^event: match$/,/^$/{/^$/q;}'`,
    );
  const run = spawnSync('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: ROOT,
    // At the first level of shells, bash takes itself for one of a remote login and reads its start files.
    env: { ...installation.fullEnv, SHLVL: '2' },
  });
  expect(run.stderr.toString()).toBe('');
  expect(run.status).toBe(0);
  return run.stdout.toString();
}

/** Parses the consecutive JSON documents that curl printed, each of one line or several. */
function documents(output: string): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = [];
  let text = '';
  for (const line of output.replaceAll('}{', '}\n{').split('\n')) {
    text += line;
    try {
      found.push(JSON.parse(text) as Record<string, unknown>);
      text = '';
    } catch {
      // It goes on in the next line.
    }
  }
  expect(text).toBe('');
  return found;
}

test('the walk-through works as written: a first match in the page, a stream, change, mute, pause, resume, delete', () => {
  const output = walk(['walk-through:1', 'walk-through:2', 'walk-through:3', 'walk-through:9', 'walk-through:4']);
  const isOfStream = (line: string) => /^(retry|id|event|data)?:/.test(line);
  const lines = output.replace('}retry:', '}\nretry:').split('\n');
  const [created, page, patched, muted, paused, resumed, account, deleted] = documents(
    lines.filter((line) => !isOfStream(line)).join('\n'),
  );
  expect(lines.filter((line) => line === 'event: match').length).toBeGreaterThan(0);
  expect(created).toMatchObject({
    monitor: { status: 'active' },
    webhook_secret: expect.stringMatching(/^whsec_/) as string,
  });
  const items = page!.items as { matched_terms: string[] }[];
  expect(items.length).toBeGreaterThan(0);
  expect(['espresso', 'flat white']).toEqual(expect.arrayContaining(items[0]!.matched_terms));
  expect(patched).toMatchObject({ monitor: { keywords: ['coffee', 'python'] } });
  expect(muted).toMatchObject({ mute: { kind: 'subreddit', value: 'decaf' } });
  expect(paused).toEqual({ status: 'paused' });
  expect(resumed).toMatchObject({ monitor: { status: 'active' } });
  expect(account).toMatchObject({ balance: 69_980 });
  expect(deleted).toEqual({ status: 'deleted' });
});

test('the reading commands work as written', () => {
  const output = walk(['walk-through:1', 'walk-through:6']);
  const [found, post] = documents(output.slice(0, output.lastIndexOf('}') + 1));
  expect(found).toMatchObject({ query: 'coffee', sort: 'relevance' });
  expect(post).toMatchObject({ post: { subreddit: 'Coffee' }, meta: { max_comments: 20 } });
  expect(output.slice(output.lastIndexOf('}') + 1)).toContain('## Comments (');
});

test('the tool call works as written', () => {
  const [answer] = documents(walk(['walk-through:1', 'walk-through:10']));
  expect(answer).toMatchObject({
    result: { structuredContent: { query: 'coffee', count: 3 }, _meta: { credits_used: 1 } },
  });
});

test('the link of the demo account opens the dashboard', async () => {
  const [line] = documents(walk(['walk-through:14']));
  const browser = new Browser(fetch);
  await browser.open(String(line!.url));
  const page = await browser.submit('sign-in/link');
  expect([page.status, page.url.pathname]).toEqual([200, '/dashboard']);
  expect(page.html).toContain('Signed in as demo@localhost');
});

test('the rule that is written as text is read', () => {
  const [parsed] = documents(walk(['walk-through:1', 'walk-through:13']));
  expect(parsed).toEqual({
    settings: {
      keywords: ['rust'],
      exclude: ['rust belt'],
      require: [['hiring', { text: 'job', prefix: true }]],
      exclude_subreddits: ['rustjerk'],
      exclude_authors: ['AutoModerator'],
    },
  });
});

test('earlier matches are found as written, once', () => {
  const [page, second, cancelled, deleted] = documents(walk(['walk-through:1', 'walk-through:16']));
  expect(page).toMatchObject({ items: [{ matched_terms: ['the'] }] });
  expect(second).toMatchObject({ backfill: { state: 'running', max_credits: 5, matches: 0 } });
  expect(cancelled).toMatchObject({ backfill: { id: (second!.backfill as { id: string }).id } });
  expect(deleted).toEqual({ status: 'deleted' });
});

test('a monitor gets a digest and spikes as written', () => {
  const [changed, events, deleted] = documents(walk(['walk-through:1', 'walk-through:21']));
  expect(changed).toMatchObject({ monitor: { name: 'together', digest: 'hourly', spike_webhook: true } });
  expect(events).toEqual({ items: [], after: null });
  expect(deleted).toEqual({ status: 'deleted' });
});

test('the statement over the account’s matches works as written', () => {
  const [answer] = documents(walk(['walk-through:1', 'walk-through:19']));
  expect(answer).toMatchObject({ columns: [{ name: 'subreddit' }, { name: 'found' }] });
  // A credit for each second that it takes, which are several on a busy machine.
  expect(answer!.credits_used).toBeGreaterThanOrEqual(1);
});

test('matches are counted over time as written', () => {
  const [series, latency, deleted] = documents(walk(['walk-through:1', 'walk-through:17']));
  expect(series).toMatchObject({ interval: 'hour', truncated: false, spikes: [] });
  expect((series as { items: object[] }).items[0]).toMatchObject({ keyword: 'the', subreddit: null });
  expect(latency).toMatchObject({ items: [{ recorded_to_delivered_ms: null, receiver_ms: null }] });
  expect(deleted).toEqual({ status: 'deleted' });
});

test('a rule is tried on a text', () => {
  const [explained] = documents(walk(['walk-through:1', 'walk-through:20']));
  expect(explained).toMatchObject({
    matched: false,
    terms: [
      { term: 'rust', nearest: { reason: 'inside_word', written: 'rusty' } },
      { term: 'memory safety', nearest: { reason: 'apart' } },
    ],
  });
});

test('the commands about the account and about sign-up work as written', async () => {
  const [ledger, usage, made, keys] = documents(walk(['walk-through:1', 'walk-through:7']));
  expect((ledger!.items as unknown[]).length).toBe(3);
  expect(usage!.items).toContainEqual(expect.objectContaining({ route: 'POST /v1/monitors' }));
  expect(made).toMatchObject({
    key: { name: 'dashboard', scopes: ['monitors:read'] },
    api_key: expect.stringMatching(/^fk_/) as string,
  });
  expect(keys!.items).toMatchObject([{ name: 'demo' }, { name: 'dashboard' }]);
  const [coverage, status] = documents(walk(['walk-through:1', 'walk-through:11']));
  expect(coverage).toMatchObject({ hours: expect.any(Array) as unknown[], total: expect.anything() as object });
  expect(status).toMatchObject({ status: expect.stringMatching(/^(ok|degraded)$/) as string });
  const [created] = documents(walk(['walk-through:1', 'walk-through:8']));
  expect(created).toMatchObject({ status: 'account_created', credits: 200, limits: { requests_per_day: 100 } });
  expect((await installation.call(String(created!.api_key), 'GET', '/v1/account')).body).toMatchObject({
    plan: 'free',
  });
});

test('the receiver of the guide verifies and prints a match within seconds', async () => {
  const port = await freePort();
  const [created] = documents(walk(['walk-through:1', 'walk-through:5'], port));
  const begun = Date.now();
  const file = join(installation.dataDir, 'receiver.mjs');
  writeFileSync(file, block('receiver').replace('listen(9000', `listen(${port}`));
  let printed = '';
  const child = spawn(process.execPath, [file], { env: { WEBHOOK_SECRET: String(created!.webhook_secret) } });
  receiver = child;
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  await eventually('a verified webhook', () => /\[ '(release|update)'.*https:/.test(printed), 60_000);
  console.log(`first webhook verified ${Date.now() - begun} ms after the monitor was created`);
});

test('the export and the feed work as written', () => {
  const [feed, revoked] = documents(walk(['walk-through:1', 'walk-through:18']));
  expect(feed).toMatchObject({ version: 'https://jsonfeed.org/version/1.1', title: 'to my receiver' });
  expect((feed!.items as unknown[]).length).toBeGreaterThan(0);
  expect(revoked).toEqual({ status: 'revoked' });
  const [names, first] = readFileSync(join(installation.dataDir, 'matches.csv'), 'utf8').split('\r\n');
  expect([names, first]).toEqual([expect.stringMatching(/^id,monitor_id,/), expect.stringMatching(/^mat_/)]);
});

test('the chart of matches works as written and names the monitor', async () => {
  // The copy of the monitor follows within seconds.
  await eventually('the name of the monitor in the chart', () => {
    walk(['walk-through:12']);
    const chart = readFileSync(join(installation.dataDir, 'matches.svg'), 'utf8');
    return /<rect [^>]*><title>/.test(chart) && chart.includes('to my receiver');
  });
});

test('a second start continues with the same data, and the key is still valid', async () => {
  expect(await installation.stop()).toBe(0);
  const took = await installation.start();
  console.log(`second start ready after ${Math.round(took)} ms`);
  const { status, body } = await installation.call(
    readFileSync(join(installation.dataDir, 'demo-key'), 'utf8').trim(),
    'GET',
    '/v1/monitors',
  );
  expect(status).toBe(200);
  expect(body).toMatchObject({ used: 1, limit: 100 });
});

test('npm start forwards SIGTERM and ends when everything has stopped', async () => {
  expect(await installation.stop()).toBe(0);
  const npm = spawn('npm', ['start'], { cwd: ROOT, env: installation.fullEnv, stdio: 'ignore' });
  const ended = new Promise((resolve) => npm.once('exit', resolve));
  const pid = await eventually('ready', () => installation.endpoints().pid, 60_000);
  npm.kill('SIGTERM');
  await ended;
  await eventually('the parent is gone', () => !isAlive(pid), 30_000);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
