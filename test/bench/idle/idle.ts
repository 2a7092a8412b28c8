/**
 * `npm run --silent bench -- idle [--minutes N] [--settle N]`: what an installation costs that nobody uses: `npm start`
 * on a new data directory, with the simulator's default rate of 20 items a second and no monitor. After `settle`
 * minutes (1) it measures for `minutes` (2): processor time a minute and memory by kind of process. Memory is the mean
 * of samples: `pss_mb` divides shared pages among the processes that share them, so that the sum is what the
 * installation takes of the machine; `rss_mb` counts them for each process. Works only on Linux.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Installation } from '../../support/children/installation.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import type { Report } from '../main.ts';
import { Resources } from '../shared/resources.ts';

const SAMPLE_EVERY_MS = 5_000;

export default async function bench(report: Report, args: string[]): Promise<void> {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const { values } = parseArgs({ args, options: { minutes: text('2'), settle: text('1') } });
  const minutes = Number(values.minutes);
  const installation = await Installation.prepare({ LOG_LEVEL: 'info' });
  try {
    const npm = await startByNpm(installation);
    try {
      await wait(Number(values.settle) * 60_000);
      reportUse(report, await measure(npm.pid!, minutes), minutes);
    } finally {
      // npm waits for its child.
      process.kill(installation.endpoints().pid, 'SIGTERM');
      await once(npm, 'exit');
    }
  } finally {
    await installation.remove();
  }
}

async function startByNpm(installation: Installation): Promise<ChildProcess> {
  const npm = spawn('npm', ['start'], { env: installation.fullEnv, stdio: ['ignore', 'ignore', 'inherit'] });
  await eventually('the installation is ready', async () => {
    if (npm.exitCode !== null) throw new Error(`npm ended with ${npm.exitCode}`);
    return (await fetch(`${installation.url}/readyz`)).status === 200;
  });
  return npm;
}

async function measure(root: number, minutes: number): Promise<Resources> {
  const resources = new Resources();
  const until = performance.now() + minutes * 60_000;
  resources.take([root], new Map());
  for (let left = minutes * 60_000; left > 0; left = until - performance.now()) {
    await wait(Math.min(left, SAMPLE_EVERY_MS));
    resources.take([root], new Map());
  }
  return resources;
}

function reportUse(report: Report, resources: Resources, minutes: number): void {
  const seconds = resources.seconds();
  const [pss, rss] = [resources.mean('memory'), resources.mean('resident')];
  for (const kind of Object.keys(pss)) {
    const perMinute = round((seconds[kind] ?? 0) / minutes);
    report({ process: kind, cpu_s_a_minute: perMinute, pss_mb: pss[kind], rss_mb: rss[kind] });
  }
  const sum = (of: Record<string, number>) => Object.values(of).reduce((total, value) => total + value, 0);
  report({
    process: 'all',
    cpu_s_a_minute: round(sum(seconds) / minutes),
    pss_mb: round(sum(pss)),
    rss_mb: round(sum(rss)),
  });
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
