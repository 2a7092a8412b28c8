import { resolve } from 'node:path';
import { inspect, parseArgs } from 'node:util';
import { errorMessage } from '../../../shared/runtime/errors.ts';
import { runCluster } from './run-cluster.ts';
import { StartFault } from '../engines/start-fault.ts';

// `npm run cluster` runs a whole installation on several servers of each kind, all on this host.
process.umask(0o077);

const HELP = `npm run --silent cluster -- [--brokers N] [--processes N] [--asynchronous]

Runs a whole installation on a cluster of this host, for trials: Kafka brokers, a PostgreSQL primary with a streaming
standby, ClickHouse, the simulator, and several processes of each service. Kill any of them and watch.

  --brokers N      Kafka brokers, 1 to 5 (3)
  --processes N    processes of each service, 1 to 4 (2); the API is in the first
  --asynchronous   commits do not wait for the standby, so its promotion may lose the last ones

It reads the settings that npm start reads. Its files are in DATA_DIR (.data-cluster).`;

const OPTIONS = {
  brokers: { type: 'string', default: '3' },
  processes: { type: 'string', default: '2' },
  asynchronous: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const stopping = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopping.abort());

try {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help) {
    process.stdout.write(`${HELP}\n`);
    process.exit(0);
  }
  await runCluster({
    dataDir: resolve(process.env['DATA_DIR'] ?? '.data-cluster'),
    env: process.env,
    brokers: numberOf('brokers', values.brokers, 5),
    processes: numberOf('processes', values.processes, 4),
    synchronous: !values.asynchronous,
    progress: (line) => void process.stdout.write(`${line}\n`),
    signal: stopping.signal,
  });
  process.exit(0);
} catch (error) {
  if (stopping.signal.aborted && error instanceof StartFault) process.exit(0);
  const isPlain = error instanceof StartFault || (error instanceof TypeError && 'code' in error);
  process.stderr.write(`${isPlain ? errorMessage(error) : inspect(error)}\n`);
  process.exit(1);
}

function numberOf(option: string, text: string, most: number): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= most) return number;
  throw new StartFault(`--${option} must be a whole number from 1 to ${most}.`);
}
