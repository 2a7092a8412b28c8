import { fork } from 'node:child_process';
import { join } from 'node:path';
import { NODE_ARGUMENTS } from '../../../services/launcher/services-child.ts';
import type { MatcherJob, MatcherMeasurement } from './matcher-child.ts';
import type { PipelineJob, PipelineMeasurement } from './pipeline-child.ts';

interface Programs {
  'matcher-child.ts': { job: MatcherJob; measurement: MatcherMeasurement };
  'pipeline-child.ts': { job: PipelineJob; measurement: PipelineMeasurement };
}

export interface Bounds {
  heapMb: number;
  seconds: number;
}

/** The program exceeded its limit of memory or time. The message says which. */
export class OutOfBounds extends Error {}

const OUT_OF_MEMORY = /heap out of memory|Map maximum size exceeded|Invalid (?:array|string) length/;
/** Only the end of a crash report is kept, because it has the reason. */
const KEPT_OUTPUT = 20_000;

/**
 * Runs a file of this folder in a separate process, sends it the job and returns its only message. Throws OutOfBounds,
 * or an error with the program's own message.
 */
export function runBounded<F extends keyof Programs>(
  file: F,
  job: Programs[F]['job'],
  { heapMb, seconds }: Bounds,
): Promise<Programs[F]['measurement']> {
  return new Promise((resolve, reject) => {
    const child = fork(join(import.meta.dirname, file), {
      // The pipeline runs like the services.
      execArgv: [
        '--expose-gc',
        `--max-old-space-size=${heapMb}`,
        ...(file === 'pipeline-child.ts' ? NODE_ARGUMENTS : []),
      ],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let output = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-KEPT_OUTPUT)));
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
    }, seconds * 1000);
    let measurement: Programs[F]['measurement'] | undefined;
    child.once('message', (message) => (measurement = message as Programs[F]['measurement']));
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      if (measurement !== undefined) resolve(measurement);
      else if (isLate) reject(new OutOfBounds(`not done in ${seconds} s`));
      else if (OUT_OF_MEMORY.test(output)) reject(new OutOfBounds(`needs more than ${heapMb} MB of heap`));
      else reject(new Error(`${file} ended (${code ?? signal}) without a result: ${output}`));
    });
    child.send(job);
  });
}
