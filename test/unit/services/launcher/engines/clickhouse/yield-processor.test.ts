import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SOURCE = join(import.meta.dirname, '../../../../../../services/launcher/engines/clickhouse/yield-processor.ts');
const SCRIPT = `
  import { readFileSync } from 'node:fs';
  import { getPriority } from 'node:os';
  import { yieldProcessor } from ${JSON.stringify(SOURCE)};
  yieldProcessor(5);
  let group = null;
  try { group = readFileSync('/proc/self/autogroup', 'utf8').trim(); } catch {}
  console.log(JSON.stringify({ nice: getPriority(), group }));`;

/** What a process sees of itself after it let others go first. */
function yielded(detached: boolean): { nice: number; group: string | null } {
  // setsid forks where it leads a group already, so the script is started by a shell that does not.
  const [command, ...args] = detached ? ['setsid', '--wait', process.execPath] : [process.execPath];
  const { stdout } = spawnSync(command, [...args, '--input-type=module-typescript', '-e', SCRIPT], {
    encoding: 'utf8',
  });
  return JSON.parse(stdout) as { nice: number; group: string | null };
}

const inherited = getPriority();
const hasGroups = existsSync('/proc/self/autogroup');

test('a process lets others go first', () => {
  expect(yielded(false).nice).toBe(Math.min(19, inherited + 5));
});

test.skipIf(!hasGroups)('the group of a session of its own lets the groups of other sessions go first', () => {
  expect(yielded(true).group).toMatch(/ nice 5$/);
});

test.skipIf(!hasGroups)('the group of a session that others are in stays as it was', () => {
  expect(yielded(false).group).not.toMatch(/ nice 5$/);
});
