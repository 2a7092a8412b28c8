import { readdirSync, readFileSync } from 'node:fs';
import { processTree } from '../../support/children/process-tree.ts';
import type { Process } from '../../support/children/process-tree.ts';

/** What the processes of one kind use together. */
interface Sample {
  /** Minutes since the first sample. */
  at: number;
  /** Megabytes, shared pages divided among the processes that share them. */
  memory: number;
  /** The part of `memory` that is memory shared on purpose: the buffers of a database. */
  shared: number;
  /** The part of `memory` that is pages of files, which the system takes back when it needs them. */
  files: number;
  /** Megabytes, shared pages counted once for each of the processes that share them. */
  resident: number;
  handles: number;
  /** Seconds of processor time since the first sample. */
  seconds: number;
}

/** Linux counts processor time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** Memory, file handles and processor time of an installation's processes over time, by kind. */
export class Resources {
  readonly #samples = new Map<string, Sample[]>();
  /** Seconds of processor time by kind, and as last seen by process. */
  readonly #seconds = new Map<string, number>();
  readonly #seen = new Map<number, number>();
  readonly #begun = performance.now();

  /**
   * Takes a sample of these process trees, and of this process alone as `self` where that is given. `kinds` names the
   * processes that their command does not.
   */
  take(roots: readonly number[], kinds: ReadonlyMap<number, string>, self?: string): void {
    const at = (performance.now() - this.#begun) / 60_000;
    const sums = new Map<string, Sample>();
    const processes = roots.flatMap((root) => processTree(root));
    const named = processes.map((of) => [of.pid, kinds.get(of.pid) ?? kindOf(of)] as const);
    if (self !== undefined) named.push([process.pid, self]);
    for (const [pid, kind] of named) {
      const used = usedBy(pid);
      if (used === undefined) continue;
      // What a process used before it was first seen is its start.
      const spent = used.seconds - (this.#seen.get(pid) ?? used.seconds);
      this.#seen.set(pid, used.seconds);
      const seconds = (this.#seconds.get(kind) ?? 0) + spent;
      this.#seconds.set(kind, seconds);
      const sum = sums.get(kind) ?? { at, memory: 0, shared: 0, files: 0, resident: 0, handles: 0 };
      sums.set(kind, {
        at,
        memory: sum.memory + used.memory,
        shared: sum.shared + used.shared,
        files: sum.files + used.files,
        resident: sum.resident + used.resident,
        handles: sum.handles + used.handles,
        seconds,
      });
    }
    for (const [kind, sample] of sums) this.#samples.set(kind, [...(this.#samples.get(kind) ?? []), sample]);
  }

  /** Seconds of processor time by kind, from the first sample on. */
  seconds(): Record<string, number> {
    return Object.fromEntries([...this.#seconds].map(([kind, seconds]) => [kind, round(seconds)]));
  }

  /** The mean memory of all samples by kind, in megabytes; with `resident`, shared pages count for each process. */
  mean(of: 'memory' | 'resident'): Record<string, number> {
    const means = [...this.#samples].map(([kind, samples]): [string, number] => {
      return [kind, round(samples.reduce((sum, sample) => sum + sample[of], 0) / samples.length)];
    });
    return Object.fromEntries(means);
  }

  /** The most memory of a kind in any sample, in megabytes. */
  most(kind: string): number {
    return round(Math.max(...(this.#samples.get(kind) ?? []).map(({ memory }) => memory)));
  }

  /**
   * By kind: cores used from the first sample on, and in each tenth; memory, the mean of the first and of the last
   * five minutes after `settled` minutes, its slope an hour with the standard error, the slope of its second half alone
   * (what only fills up flattens) and of its shared pages and pages of files, and its mean in each tenth; file handles
   * likewise.
   */
  growth(settled: number): object[] {
    return [...this.#samples].map(([kind, all]) => {
      const samples = all.filter(({ at }) => at >= settled);
      const last = samples.at(-1)?.at ?? 0;
      const mean = (of: readonly Sample[]) => round(of.reduce((sum, { memory }) => sum + memory, 0) / of.length);
      const slopeOf = (of: readonly Sample[], field: 'memory' | 'shared' | 'files' | 'handles') => {
        return slope(of.map((sample) => [sample.at / 60, sample[field]]));
      };
      const tenth = (index: number) => all.filter(({ at }) => Math.min(9, Math.floor((at / last) * 10)) === index);
      return {
        process: kind,
        cores: hundredths((this.#seconds.get(kind) ?? 0) / (last * 60)),
        cores_tenths: Array.from({ length: 10 }, (_, index) => hundredths(coresUsed(tenth(index)))),
        mb_first: mean(samples.filter(({ at }) => at < settled + 5)),
        mb_last: mean(samples.filter(({ at }) => at > last - 5)),
        mb_most: round(Math.max(...all.map(({ memory }) => memory))),
        mb_an_hour: slopeOf(samples, 'memory'),
        mb_an_hour_second_half: slopeOf(
          samples.filter(({ at }) => at > (settled + last) / 2),
          'memory',
        ),
        mb_an_hour_shared: slopeOf(samples, 'shared'),
        mb_an_hour_files: slopeOf(samples, 'files'),
        mb_tenths: Array.from({ length: 10 }, (_, index) => Math.round(mean(tenth(index)))),
        handles_last: samples.at(-1)?.handles,
        handles_an_hour: slopeOf(samples, 'handles'),
      };
    });
  }
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Cores used between the first and the last of these samples. */
function coresUsed(samples: readonly Sample[]): number {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || last.at === first.at) return 0;
  return (last.seconds - first.seconds) / (60 * (last.at - first.at));
}

/** The slope of the least-squares line through these points, and its standard error: "1.2 ± 0.3". */
function slope(points: readonly (readonly [number, number])[]): string | null {
  const { length } = points;
  if (length < 3) return null;
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / length;
  const [x, y] = [mean(points.map(([at]) => at)), mean(points.map(([, value]) => value))];
  const spread = points.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
  const steepness = points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0) / spread;
  const rest = points.reduce((sum, [at, value]) => sum + (value - y - steepness * (at - x)) ** 2, 0);
  return `${round(steepness)} ± ${round(Math.sqrt(rest / (length - 2) / spread))}`;
}

function kindOf({ command }: Process): string {
  if (command.includes('kafka.Kafka')) return 'kafka';
  if (command.startsWith('postgres') || command.includes('/postgres ')) return 'postgres';
  if (command.includes('services-main')) return 'services';
  if (command.includes('simulator')) return 'simulator';
  if (command.includes('clickhouse')) return 'clickhouse';
  if (command.startsWith('npm ')) return 'npm';
  return /services\/(main\.ts|start\.mjs)/.test(command) ? 'parent' : 'others';
}

/** Megabytes, open handles, seconds of processor time; undefined when the process has ended. */
function usedBy(pid: number): Omit<Sample, 'at'> | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13);
    const seconds = (Number(user) + Number(system)) / TICKS_PER_SECOND;
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    const megabytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(rollup)?.[1]) / 1024;
    const handles = readdirSync(`/proc/${pid}/fd`).length;
    const pss = { memory: megabytes('Pss'), shared: megabytes('Pss_Shmem'), files: megabytes('Pss_File') };
    return { ...pss, resident: megabytes('Rss'), handles, seconds };
  } catch {
    return undefined;
  }
}
