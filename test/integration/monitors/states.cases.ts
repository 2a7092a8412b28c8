import type { MonitorStatus } from '../../../schemas/api/monitors.ts';

export const MONITOR_STATES = ['active', 'paused', 'paused_balance', 'deleted'] as const satisfies MonitorStatus[];

/** The effect of an event on a monitor in a given state. Fields that are not listed do not change. */
export interface Outcome {
  /** HTTP status of the answer; absent for events that are not requests. */
  status?: number;
  /** Members that the answer must have. */
  body?: object;
  /** The code of a refusal. */
  error?: string;
  becomes?: MonitorStatus;
  /** Credits. */
  cost?: number;
  /** Times that change. */
  moves?: ('active_since' | 'next_charge_at' | 'updated_at')[];
  /** Whether the matchers are notified. */
  announced?: true;
}

export interface MonitorEvent {
  name: string;
  does:
    | { method: 'GET' | 'POST' | 'PATCH' | 'DELETE'; path?: string; body?: object }
    | 'list'
    | 'renewal'
    | 'freeze of the account'
    | 'end of the account';
  /** Credits of the account before the event; default 1,000. */
  credits?: number;
  /** Time that passes before the event; default an hour. */
  after?: string;
  in: Record<MonitorStatus, Outcome>;
}

const NOT_FOUND: Outcome = { status: 404, error: 'not_found' };
const PAUSED: Outcome = { status: 200, body: { status: 'paused' } };
const DELETED: Outcome = {
  status: 200,
  body: { status: 'deleted' },
  becomes: 'deleted',
  moves: ['updated_at'],
  announced: true,
};
const TOO_POOR: Outcome = { status: 402, error: 'insufficient_credits' };
const RESUMED: Outcome = {
  status: 200,
  body: { monitor: { status: 'active' } },
  becomes: 'active',
  cost: 10,
  moves: ['active_since', 'next_charge_at', 'updated_at'],
  announced: true,
};

/** The same in every state except deleted, where the monitor no longer exists. */
function whileItLives(outcome: Outcome): MonitorEvent['in'] {
  return { active: outcome, paused: outcome, paused_balance: outcome, deleted: NOT_FOUND };
}

/** A change of one member; `shown` is its value in the monitor's resource. */
function change(body: object, shown: object, isRule: boolean): MonitorEvent {
  const outcome = (status: MonitorStatus): Outcome => ({
    status: 200,
    body: { monitor: { status, ...shown } },
    moves: ['updated_at'],
    ...(isRule ? { announced: true } : {}),
  });
  return {
    name: `PATCH ${JSON.stringify(body)}`,
    does: { method: 'PATCH', body },
    in: {
      active: outcome('active'),
      paused: outcome('paused'),
      paused_balance: outcome('paused_balance'),
      deleted: NOT_FOUND,
    },
  };
}

const reading: MonitorEvent[] = [
  {
    name: 'GET',
    does: { method: 'GET' },
    credits: 0,
    in: {
      active: { status: 200, body: { monitor: { status: 'active' }, stats: { matches_today: 0 } } },
      paused: { status: 200, body: { monitor: { status: 'paused' } } },
      paused_balance: { status: 200, body: { monitor: { status: 'paused_balance' } } },
      deleted: NOT_FOUND,
    },
  },
  {
    name: 'the list',
    does: 'list',
    in: {
      active: { status: 200, body: { items: [{ status: 'active' }], used: 1, limit: 10, daily_match_cap: 1_000 } },
      paused: { status: 200, body: { items: [{ status: 'paused' }], used: 1 } },
      paused_balance: { status: 200, body: { items: [{ status: 'paused_balance' }], used: 1 } },
      deleted: { status: 200, body: { items: [], used: 0 } },
    },
  },
];

const changing: MonitorEvent[] = [
  change({ name: 'another' }, { name: 'another' }, false),
  change({ keywords: ['tin'] }, { keywords: ['tin'] }, true),
  change({ comments: false }, { include_posts: true, include_comments: false }, true),
  change({ webhook_url: null }, { webhook_url: null, webhook_kind: null }, false),
  {
    name: 'PATCH of nothing',
    does: { method: 'PATCH', body: {} },
    credits: 0,
    in: whileItLives({ status: 200 }),
  },
  {
    name: 'PATCH that is refused in one member changes no other',
    does: { method: 'PATCH', body: { name: 'another', keywords: [] } },
    in: {
      active: { status: 400, error: 'invalid_request' },
      paused: { status: 400, error: 'invalid_request' },
      paused_balance: { status: 400, error: 'invalid_request' },
      // The request is checked before the monitor is looked up.
      deleted: { status: 400, error: 'invalid_request' },
    },
  },
];

const starting: MonitorEvent[] = [
  {
    name: 'pause',
    does: { method: 'POST', path: '/pause' },
    credits: 0,
    in: {
      active: { ...PAUSED, becomes: 'paused', moves: ['updated_at'], announced: true },
      paused: PAUSED,
      paused_balance: { ...PAUSED, becomes: 'paused', moves: ['updated_at'], announced: true },
      deleted: NOT_FOUND,
    },
  },
  {
    name: 'resume',
    does: { method: 'POST', path: '/resume' },
    in: {
      active: { status: 200, body: { monitor: { status: 'active' } } },
      paused: RESUMED,
      paused_balance: RESUMED,
      deleted: NOT_FOUND,
    },
  },
  {
    name: 'resume with 9 credits',
    does: { method: 'POST', path: '/resume' },
    credits: 9,
    in: {
      // The monitor is already running, so nothing must be paid.
      active: { status: 200, body: { monitor: { status: 'active' } } },
      paused: TOO_POOR,
      paused_balance: TOO_POOR,
      deleted: NOT_FOUND,
    },
  },
  {
    name: 'delete',
    does: { method: 'DELETE' },
    credits: 0,
    in: {
      active: DELETED,
      paused: DELETED,
      paused_balance: DELETED,
      deleted: { status: 200, body: { status: 'deleted' } },
    },
  },
];

const NOTHING: MonitorEvent['in'] = { active: {}, paused: {}, paused_balance: {}, deleted: {} };

const byItself: MonitorEvent[] = [
  {
    name: 'the renewal, when it is not due yet',
    does: 'renewal',
    after: '23:59:59.999',
    in: NOTHING,
  },
  {
    name: 'the renewal',
    does: 'renewal',
    after: '24 hours',
    in: { ...NOTHING, active: { cost: 10, moves: ['next_charge_at'] } },
  },
  {
    name: 'the renewal with 9 credits',
    does: 'renewal',
    credits: 9,
    after: '24 hours',
    in: { ...NOTHING, active: { becomes: 'paused_balance', moves: ['updated_at'], announced: true } },
  },
  {
    name: 'a freeze of the account',
    does: 'freeze of the account',
    in: { ...NOTHING, active: { becomes: 'paused', moves: ['updated_at'], announced: true } },
  },
  {
    name: 'the end of the account',
    does: 'end of the account',
    in: {
      active: { becomes: 'deleted', moves: ['updated_at'], announced: true },
      paused: { becomes: 'deleted', moves: ['updated_at'], announced: true },
      paused_balance: { becomes: 'deleted', moves: ['updated_at'], announced: true },
      deleted: {},
    },
  },
];

export const MONITOR_EVENTS: MonitorEvent[] = [...reading, ...changing, ...starting, ...byItself];
