import { z } from 'zod';

export const faultSchema = z.strictObject({
  kind: z.enum([
    'outage',
    '429',
    'html403',
    'slow',
    'truncated',
    '5xx',
    'expired-tokens',
    'stale',
    'duplicates',
    'more',
  ]),
  /**
   * The fault ends after `seconds` or after `count` requests, whichever comes first. Without both, only DELETE ends it.
   */
  seconds: z.number().positive().optional(),
  count: z.int().positive().optional(),
  /** Affects only paths with this prefix, including the token endpoint's. */
  path: z.string().startsWith('/').optional(),
  /** 429: the Retry-After header, in seconds. */
  retry_after: z.number().min(0).default(5),
  /** slow: the delay of a response. */
  delay_ms: z.int().min(0).max(120_000).default(12_000),
  /** stale: how old the listing is. */
  age_ms: z.int().min(1).max(3_600_000).default(10_000),
  /** 5xx: the status. */
  status: z.int().min(500).max(599).default(503),
});

export type Fault = z.infer<typeof faultSchema>;

interface Active {
  fault: Fault;
  until: number;
  left: number;
}

/** The active faults. */
export class Faults {
  private active: Active[] = [];

  add(fault: Fault, now: number): void {
    const until = fault.seconds === undefined ? Infinity : now + fault.seconds * 1000;
    this.active.push({ fault, until, left: fault.count ?? Infinity });
  }

  clear(): void {
    this.active = [];
  }

  list(now: number): object[] {
    this.prune(now);
    return this.active.map(({ fault, until, left }) => ({
      ...fault,
      seconds_left: until === Infinity ? null : (until - now) / 1000,
      count_left: left === Infinity ? null : left,
    }));
  }

  private prune(now: number): void {
    this.active = this.active.filter((entry) => entry.until > now && entry.left > 0);
  }

  /** Returns the oldest fault that applies to this path, and counts this request against it. */
  take(path: string, now: number): Fault | undefined {
    this.prune(now);
    const entry = this.active.find(({ fault }) => path.startsWith(fault.path ?? '/'));
    if (entry) entry.left--;
    return entry?.fault;
  }
}
