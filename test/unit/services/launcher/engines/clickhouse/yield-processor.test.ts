import { spawnSync } from 'node:child_process';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SOURCE = join(import.meta.dirname, '../../../../../../services/launcher/engines/clickhouse/yield-processor.ts');

interface Yielded {
  nice: number;
  group: string | null;
  /** What it wrote to its group, where the test does that for it. */
  written: string[];
}

/** What a process sees of itself after it let others go first, as the leader of a session of its own if `leads`. */
function yielded(leads: boolean, call = 'yieldProcessor(5)'): Yielded {
  const script = `
    import { readFileSync } from 'node:fs';
    import { getPriority } from 'node:os';
    import { yieldProcessor } from ${JSON.stringify(SOURCE)};
    const written = [];
    ${call};
    let group = null;
    try { group = readFileSync('/proc/self/autogroup', 'utf8').trim(); } catch {}
    console.log(JSON.stringify({ nice: getPriority(), group, written }));`;
  const [command, ...args] = leads ? ['setsid', '--wait', process.execPath] : [process.execPath];
  const { stdout } = spawnSync(command, [...args, '--input-type=module-typescript', '-e', script], {
    encoding: 'utf8',
  });
  return JSON.parse(stdout) as Yielded;
}

/** Whether a session of its own may set the nice value of its group here. Without that right, two writes fail. */
function groupsCanYield(): boolean {
  const write = 'echo 5 > /proc/self/autogroup';
  const script = `{ ${write} || { sleep 0.2; ${write}; }; } 2> /dev/null; cat /proc/self/autogroup`;
  const { stdout } = spawnSync('setsid', ['--wait', 'sh', '-c', script], { encoding: 'utf8' });
  return / nice 5$/m.test(stdout);
}

const inherited = getPriority();
const canYield = groupsCanYield();
const where = canYield ? '' : ' (skipped: no group of processes can be given a nice value here)';

test('a process lets others go first', () => {
  expect(yielded(false).nice).toBe(Math.min(19, inherited + 5));
});

test.skipIf(!canYield)(`the group of a session of its own lets the groups of other sessions go first${where}`, () => {
  expect(yielded(true).group).toMatch(/ nice 5$/);
});

test.skipIf(process.platform !== 'linux')('does without the group where it may not write', () => {
  const call = `yieldProcessor(5, (nice) => {
    written.push(nice);
    throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
  })`;
  expect(yielded(true, call)).toMatchObject({ nice: Math.min(19, inherited + 5), written: ['5'] });
});
