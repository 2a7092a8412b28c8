import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { NODE_ARGUMENTS } from '../../../services/launcher/child-processes.ts';
import type { MatcherJob, MatcherMeasurement } from './matcher-child.ts';
import type { PipelineJob, PipelineMeasurement } from './pipeline-child.ts';

interface Programs {
  'matcher-child.ts': { job: MatcherJob; measurement: MatcherMeasurement };
  'pipeline-child.ts': { job: PipelineJob; measurement: PipelineMeasurement };
}

const HEAP_MB = 4_096;

/** Runs a file of this folder in a process of its own, sends it the job and returns its only message. */
export async function measure<F extends keyof Programs>(
  file: F,
  job: Programs[F]['job'],
): Promise<Programs[F]['measurement']> {
  // The pipeline runs like the services.
  const asService = file === 'pipeline-child.ts' ? NODE_ARGUMENTS : [];
  const child = fork(join(import.meta.dirname, file), {
    execArgv: ['--expose-gc', `--max-old-space-size=${HEAP_MB}`, ...asService],
  });
  const ended = once(child, 'exit');
  let measurement: Programs[F]['measurement'] | undefined;
  child.once('message', (message) => (measurement = message as Programs[F]['measurement']));
  child.send(job);
  const [code] = (await ended) as [number | null];
  if (measurement === undefined) throw new Error(`${file} ended (${code}) without a result`);
  return measurement;
}
