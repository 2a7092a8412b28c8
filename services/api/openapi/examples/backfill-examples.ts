import type { Backfill, StartBackfill } from '../../../../schemas/api/backfills.ts';

const started: Backfill = {
  id: 'bf_5t8w1z4c7f0j',
  state: 'running',
  from: '2026-02-25T10:30:00.000Z',
  to: '2026-03-04T10:30:00.000Z',
  deliver: false,
  max_credits: 20,
  scanned_to: null,
  share: 0,
  matches: 0,
  delivered: 0,
  already_known: 0,
  credits: 0,
  started_at: '2026-03-04T10:30:00.000Z',
  ended_at: null,
};

const underWay: Backfill = {
  ...started,
  scanned_to: '2026-02-27T22:42:13.120Z',
  share: 0.3584,
  matches: 612,
  already_known: 31,
  credits: 7,
};

const done: Backfill = {
  ...started,
  id: 'bf_2m6q9v3y8d1h',
  state: 'done',
  from: '2026-02-18T10:30:00.000Z',
  to: '2026-02-25T10:30:00.000Z',
  max_credits: null,
  scanned_to: '2026-02-25T10:30:00.000Z',
  share: 1,
  matches: 1_204,
  already_known: 4,
  credits: 13,
  started_at: '2026-02-25T10:30:00.000Z',
  ended_at: '2026-02-25T10:30:19.482Z',
};

/** Requests and answers of the routes about backfills, invented. */
export const backfillExamples = {
  week: { from: started.from, max_credits: 20 } satisfies Partial<StartBackfill>,
  delivered: { from: '2026-03-04T00:00:00Z', to: '2026-03-04T10:00:00Z', deliver: true } satisfies StartBackfill,
  started: { backfill: started },
  cancelling: { backfill: { ...underWay, state: 'cancelling' } satisfies Backfill },
  list: { items: [underWay, done] },
};
