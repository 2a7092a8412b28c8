import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Installation } from '../../support/children/installation.ts';
import { runAdminProcess } from '../../support/children/admin-process.ts';
import { startSimulatorProcess } from '../../support/children/simulator-process.ts';
import type { SimulatorProcess } from '../../support/children/simulator-process.ts';
import { allMatches } from '../../support/clients/all-matches.ts';
import type { PageMatch } from '../../support/clients/all-matches.ts';
import { askClickhouse } from '../../support/clients/clickhouse-request.ts';
import { startWebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import type { WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { eventually } from '../../support/fixtures/eventually.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** The forum lists its last 1,000 comments, so the restoration may take three minutes before one leaves the list. */
const PER_SECOND = 6;
const KEY = 'the key is kept outside of the backup';
const folder = mkdtempSync(join(tmpdir(), 'forum-test-backup-'));
const backup = join(folder, 'backup');

let forum: SimulatorProcess;
let receiver: WebhookReceiver;
let lost: Installation;
let restored: Installation;
beforeAll(async () => {
  [forum, receiver] = await Promise.all([
    // Without items from before the start: where the first installation catches up with them slowly, it finds some that
    // the forum does not list any more when the second one starts.
    startSimulatorProcess({ SIMULATOR_RATE: String(PER_SECOND), SIMULATOR_HISTORY: '0' }),
    startWebhookReceiver(),
  ]);
  const env = {
    UPSTREAM_URL: forum.url,
    UPSTREAM_TOKEN_URL: `${forum.url}/api/v1/access_token`,
    UPSTREAM_CLIENTS: 'simulator:simulator',
    SECRET_KEY: KEY,
  };
  [lost, restored] = [await Installation.prepare(env), await Installation.prepare(env)];
});
afterAll(async () => {
  await Promise.all([lost.remove(), restored.remove()]);
  await Promise.all([forum.stop(), receiver.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

/** What `npm run backup` does. */
function runBackup(env: NodeJS.ProcessEnv, ...args: string[]): { code: number | null; out: string; err: string } {
  const script = 'services/launcher/backup-main.ts';
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { cwd: ROOT, env });
  return { code: status, out: stdout.toString(), err: stderr.toString() };
}

const numberOf = ({ id }: PageMatch) => Number(id.slice(-12));

test('a restored installation loses nothing that the forum still lists, and gives no number twice', async () => {
  await lost.start();
  const account = lost.admin('account', 'create', '--email', 'a@example.com', '--credits', '100', '--pack', '79');
  const key = String(account.api_key);
  const body = { name: 'w', keywords: ['update', 'coffee', 'this'], nsfw: true, webhook_url: receiver.url };
  const created = await lost.call(key, 'POST', '/v1/monitors', body);
  const monitor = (created.body as { monitor: { id: string } }).monitor.id;
  await eventually('there are matches', async () => (await allMatches(lost, key, monitor)).length >= 5, 60_000);

  const kept = (await allMatches(lost, key, monitor)).length;
  const taken = runBackup(lost.fullEnv, '--to', backup);
  expect(taken).toMatchObject({ code: 0, err: '' });
  expect(runBackup(lost.fullEnv, '--to', backup)).toMatchObject({ code: 1, err: `${backup} is not empty.\n` });
  const done = (await allMatches(lost, key, monitor)).length;
  await eventually(
    'there are later ones',
    async () => (await allMatches(lost, key, monitor)).length > done + 10,
    60_000,
  );
  const before = await allMatches(lost, key, monitor);
  await lost.killAll();

  const wrongKey = { ...restored.fullEnv, SECRET_KEY: 'another key that opens nothing here' };
  expect(runBackup(wrongKey, '--restore', backup)).toMatchObject({
    code: 1,
    err: 'The secrets of this backup were sealed with another SECRET_KEY: set the one of that time.\n',
  });
  expect(existsSync(join(restored.dataDir, 'postgres'))).toBe(false);
  const { code, out } = runBackup(restored.fullEnv, '--restore', backup);
  expect([code, JSON.parse(out)]).toEqual([0, { ...(JSON.parse(taken.out) as object), v: undefined, monitors: 1 }]);
  expect(runBackup(restored.fullEnv, '--restore', backup).err).toContain('a backup is restored into an empty DATA_DIR');
  await restored.start();

  const things = new Set(before.map(({ thing_id }) => thing_id));
  await eventually(
    'all that was found is found, and more',
    async () => {
      const found = new Set((await allMatches(restored, key, monitor)).map(({ thing_id }) => thing_id));
      const missing = [...things].filter((id) => !found.has(id));
      if (missing.length > 0) throw new Error(`${missing.length} of ${things.size} are missing`);
      return found.size > things.size + 5;
    },
    240_000,
  );
  const after = await allMatches(restored, key, monitor);

  // What was stored is as it was; every later match has a number that no lost one had, and these have no hole.
  const stored = after.filter((match) => numberOf(match) <= numberOf(before.at(-1)!));
  expect(stored.length).toBeGreaterThanOrEqual(kept);
  expect(stored.map(({ id, thing_id }) => [id, thing_id])).toEqual(
    before.slice(0, stored.length).map(({ id, thing_id }) => [id, thing_id]),
  );
  const later = after.slice(stored.length).map(numberOf);
  expect(later[0]).toBeGreaterThan(10_000_000);
  expect(later).toEqual(later.map((_, index) => later[0]! + index));
  expect(new Set(after.map(({ thing_id }) => thing_id)).size).toBe(after.length);
  // Who has read everything of the lost installation reads on, and misses nothing.
  const read = await restored.call(
    key,
    'GET',
    `/v1/monitors/${monitor}/matches?order=oldest&after=${before.at(-1)!.id}`,
  );
  expect((read.body as { items: PageMatch[] }).items[0]!.id).toBe(after[stored.length]!.id);
  const thingsOfId = new Map<string, Set<string>>();
  for (const { headers, body: sent } of receiver.received) {
    const id = String(headers['x-service-delivery']);
    const { match } = JSON.parse(sent) as { match: PageMatch };
    thingsOfId.set(id, (thingsOfId.get(id) ?? new Set()).add(match.thing_id));
  }
  expect([...thingsOfId].filter(([, of]) => of.size !== 1)).toEqual([]);
  expect(restored.admin('ledger', 'check')).toMatchObject({ status: 'every balance is what its ledger says' });

  // The archive was lost, too: what Postgres holds is archived again, with the content of what matched.
  const archived = async () => {
    const query = `SELECT seq, removed OR title != '' OR body != '' FROM matches_with_items ORDER BY seq FORMAT TSV`;
    const answer = await askClickhouse(restored.endpoints().clickhouse, { method: 'POST', body: query });
    return (await answer.text()).trim().split('\n');
  };
  // What the crawler has seen again is archived again; it is taken away, too, once all of it is there.
  const newest = String(numberOf(after.at(-1)!));
  await eventually('the archive has what was found again', async () =>
    (await archived()).some((row) => row.startsWith(`${newest}\t`)),
  );
  for (const table of ['matches', 'items', 'item_contents', 'delivery_attempts']) {
    const truncate = { method: 'POST', body: `TRUNCATE TABLE ${table}` };
    expect((await askClickhouse(restored.endpoints().clickhouse, truncate)).status).toBe(200);
  }
  expect(await archived()).not.toContain('1\t1');
  const rebuilt = await runAdminProcess(['archive', 'rebuild'], { DATA_DIR: restored.dataDir, SECRET_KEY: KEY });
  expect(rebuilt).toMatchObject({ code: 0 });
  expect(await archived()).toEqual(expect.arrayContaining(stored.map((match) => `${numberOf(match)}\t1`)));
}, 600_000);
