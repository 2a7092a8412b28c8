import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Report } from '../main.ts';
import type { AccountsAddresses, AccountsJob } from '../accounts/accounts-child.ts';
import { inMs, run } from './even-load.ts';
import type { Load, Server } from './even-load.ts';
import { percentiles } from './percentiles.ts';
import { openPostgres } from './postgres-engine.ts';

const ACCOUNTS = 50;
const ROUNDS = 3;
const COMMENTS = [20, 200];

export interface Comparison<Name extends string> {
  /** The default number of requests per second. */
  rate: string;
  /** The servers that return the same post. */
  createServers: (urls: AccountsAddresses, postgresUrl: string) => Record<Name, Server>;
  /** Reports the comparison of the servers. */
  conclude: (measured: Record<Name, ReturnType<typeof percentiles>>, report: Report) => void;
}

/** Reads a cached post of 20 and of 200 comments with 50 accounts at an even rate, from the servers in turn. */
export async function compareCachedPost<Name extends string>(
  report: Report,
  args: string[],
  comparison: Comparison<Name>,
): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { seconds: { type: 'string', default: '10' }, rate: { type: 'string', default: comparison.rate } },
  });
  const load = { perSecond: Number(values.rate), seconds: Number(values.seconds) };
  const engine = await openPostgres();
  try {
    for (const comments of COMMENTS) {
      await compare(engine.url, { comments, load, comparison }, (line) => {
        report({ comments, ...line });
      });
    }
  } finally {
    await engine.stop();
  }
}

async function compare<Name extends string>(
  postgresUrl: string,
  { comments, load, comparison }: { comments: number; load: Load; comparison: Comparison<Name> },
  report: Report,
): Promise<void> {
  const child = fork(join(import.meta.dirname, '../accounts/accounts-child.ts'));
  try {
    child.send({ postgresUrl, accounts: ACCOUNTS, comments } satisfies AccountsJob);
    const [urls] = (await once(child, 'message')) as [AccountsAddresses];
    const servers = comparison.createServers(urls, postgresUrl);
    const names = Object.keys(servers) as Name[];
    for (const name of names) await run(servers[name], { ...load, seconds: 2 });
    const all = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
    for (let round = 0; round < ROUNDS; round++) {
      for (const name of names) all[name].push(...(await run(servers[name], load)));
    }
    for (const name of names) {
      report({ case: name, requests: all[name].length, per_second: load.perSecond, ...inMs(all[name]) });
    }
    const measured = names.map((name) => [name, percentiles(all[name])] as const);
    comparison.conclude(Object.fromEntries(measured) as Record<Name, ReturnType<typeof percentiles>>, report);
    for (const name of names) await servers[name].close();
  } finally {
    child.kill('SIGKILL');
  }
}
