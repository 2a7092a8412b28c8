import { z } from 'zod';
import type { PaymentSimulatorOptions } from './http/payment-simulator.ts';
import type { Omissions } from './timeline/timeline.ts';

const HOLES = 0.02;
const number = z.coerce.number();
const share = number.min(0).max(0.9);
/** Milliseconds: a range such as `300-600`, or one number. */
const latency = z
  .string()
  .regex(/^\d{1,5}(-\d{1,5})?$/, 'must be milliseconds, or a range such as 300-600')
  .transform((text) => {
    const [minMs = 0, maxMs = minMs] = text.split('-').map(Number);
    return { minMs: Math.min(minMs, maxMs), maxMs: Math.max(minMs, maxMs) };
  });

/** `0.2@60`: a share, and the rate per second beyond which it applies. */
const shareBeyond = z
  .string()
  .regex(/^(0|1|0?\.\d{1,4})@\d{1,5}$/, 'must be a share and a rate per second, such as 0.2@60')
  .transform((text) => {
    const [drop, above] = text.split('@').map(Number);
    return { share: drop!, above: above! };
  });

const schema = z.object({
  DATA_DIR: z.string().min(1).default('.data'),
  /** The address to listen on; another one is for closed networks only, because control routes have no password. */
  SIMULATOR_HOST: z.union([z.ipv4(), z.ipv6()]).default('127.0.0.1'),
  /** 0 takes a free one. */
  SIMULATOR_PORT: number.int().min(0).max(65_535).default(0),
  /** Slots per second (holes count), up to 20,000; 0: only injected items. */
  SIMULATOR_RATE: number.min(0).max(20_000).default(20),
  /** Which forum. */
  SIMULATOR_SEED: number.int().min(0).max(0xffffffff).default(1),
  /**
   * File: `{k, name, kind, at, visible_at, subreddit, author, text, over_18, injected}` a line, times in
   * milliseconds; posts also `title`, comments `link_id` and `link_title`.
   */
  SIMULATOR_EMITTED_LOG: z.string().min(1).optional(),
  SIMULATOR_COMMENT_IDS: z.enum(['sequential', 'random']).default('sequential'),
  SIMULATOR_CALLS_PER_10MIN: number.int().min(1).default(6000),
  /** Maximum number of items that this process emits. */
  SIMULATOR_COUNT: number.int().min(0).optional(),
  SIMULATOR_LATE: share.default(0.005),
  /** Back-dated slots of the very first start. */
  SIMULATOR_HISTORY: number.int().min(0).max(1_000_000).default(2000),
  /** Round-trip time in milliseconds, or a range (`300-600`) from which each one is drawn. */
  SIMULATOR_LATENCY_MS: latency.default({ minMs: 0, maxMs: 0 }),
  /** Generated communities beside the written ones; they get 80 % of the posts. */
  SIMULATOR_COMMUNITIES: number.int().min(0).max(1_000_000).default(0),
  /** The longest lateness of a late item, up to 600. */
  SIMULATOR_LATE_SECONDS: number.min(2).max(600).optional(),
  /** 1: late items enter listings at the place of their creation time. */
  SIMULATOR_LATE_DEEP: z.enum(['0', '1']).default('0'),
  /** `0.2@60`: of the comments beyond 60 a second, the share 0.2 is missing in /r/all/comments. */
  SIMULATOR_DROP_ALL: shareBeyond.optional(),
  /** Share of items whose communities are not in /r/all/…. */
  SIMULATOR_OUTSIDE_ALL: share.default(0),
  /** Share of comments that only their thread and /api/info show. */
  SIMULATOR_THREAD_ONLY: share.default(0),
  /** All three: payments with this key, events signed with this secret and sent to this address. */
  SIMULATOR_PAYMENTS_KEY: z.string().optional(),
  SIMULATOR_PAYMENTS_SECRET: z.string().optional(),
  SIMULATOR_PAYMENTS_WEBHOOK: z.url().optional(),
});

type Settings = z.infer<typeof schema>;

function omissionsOf(settings: Settings): Omissions | undefined {
  const { SIMULATOR_DROP_ALL: drop_all, SIMULATOR_OUTSIDE_ALL: outside_all } = settings;
  const { SIMULATOR_THREAD_ONLY: thread_only } = settings;
  if (drop_all === undefined && outside_all + thread_only === 0) return undefined;
  return { drop_all, outside_all, thread_only };
}

function paymentsOf(e: Settings): PaymentSimulatorOptions | undefined {
  const { SIMULATOR_PAYMENTS_KEY: key, SIMULATOR_PAYMENTS_SECRET: secret, SIMULATOR_PAYMENTS_WEBHOOK: webhookUrl } = e;
  return key === undefined || secret === undefined || webhookUrl === undefined
    ? undefined
    : { key, secret, webhookUrl };
}

/** An empty variable counts as unset. @throws Error that lists every invalid setting */
export function parseEnvironment(env: Readonly<Record<string, string | undefined>>) {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = schema.safeParse(set);
  if (!parsed.success) throw new Error(`simulator settings:\n${z.prettifyError(parsed.error)}`);
  const e = parsed.data;
  return {
    host: e.SIMULATOR_HOST,
    port: e.SIMULATOR_PORT,
    latency: e.SIMULATOR_LATENCY_MS,
    payments: paymentsOf(e),
    world: {
      directory: e.DATA_DIR,
      seed: e.SIMULATOR_SEED,
      rate: e.SIMULATOR_RATE,
      ids: e.SIMULATOR_COMMENT_IDS,
      holes: HOLES,
      late: e.SIMULATOR_LATE,
      history: e.SIMULATOR_HISTORY,
      count: e.SIMULATOR_COUNT,
      emittedLog: e.SIMULATOR_EMITTED_LOG,
      communities: e.SIMULATOR_COMMUNITIES,
      lateSeconds: e.SIMULATOR_LATE_SECONDS,
      lateDeep: e.SIMULATOR_LATE_DEEP === '1',
      omissions: omissionsOf(e),
    },
    access: {
      seed: e.SIMULATOR_SEED,
      callsPerWindow: e.SIMULATOR_CALLS_PER_10MIN,
    },
  };
}
