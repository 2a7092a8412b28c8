import { readFileSync } from 'node:fs';

/** USER_HZ of Linux, the unit of processor time in /proc. */
const TICKS_PER_SECOND = 100;
const SAMPLE_MS = 500;

/** Samples the memory of a process until it is stopped, and counts its processor time. Works only on Linux. */
export class ProcessUse {
  private readonly pid: number;
  private readonly startedCpu: number;
  private readonly startedAt = performance.now();
  private readonly timer: NodeJS.Timeout;
  private readonly rss: number[] = [];

  constructor(pid: number) {
    this.pid = pid;
    this.startedCpu = this.cpuSeconds();
    this.timer = setInterval(() => {
      this.rss.push(this.rssMb());
    }, SAMPLE_MS);
  }

  /** The use since the start: processor seconds, share of one core, and resident memory in MB. */
  stop(): { cpu_s: number; cores: number; rss_mb_first: number; rss_mb_max: number; rss_mb_last: number } {
    clearInterval(this.timer);
    const cpu = this.cpuSeconds() - this.startedCpu;
    const seconds = (performance.now() - this.startedAt) / 1000;
    return {
      cpu_s: Number(cpu.toFixed(1)),
      cores: Number((cpu / seconds).toFixed(2)),
      rss_mb_first: this.rss[0] ?? 0,
      rss_mb_max: Math.max(...this.rss),
      rss_mb_last: this.rss.at(-1) ?? 0,
    };
  }

  /** User and system time of all its threads. */
  private cpuSeconds(): number {
    const stat = readFileSync(`/proc/${this.pid}/stat`, 'utf8');
    // The command's name is in parentheses and may contain spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  }

  private rssMb(): number {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))?.[1];
    return Math.round(Number(kilobytes) / 1024);
  }
}
