import type { DeliveryLogEntry, EventLogPage } from '../../../../schemas/api/deliveries.ts';
import { monitorExamples } from './monitor-examples.ts';

const [match] = monitorExamples.page.items;

const attempt: DeliveryLogEntry = {
  match_id: match!.id,
  attempt: 1,
  started_at: '2026-03-04T10:21:07.501Z',
  duration_ms: 212,
  webhook_kind: 'generic',
  host: 'example.com',
  status: 503,
  error: 'http_status',
  response_excerpt: 'Back in a minute.',
  delivery_status: 'pending',
  next_attempt_at: '2026-03-04T10:21:38.104Z',
};

const events: EventLogPage = {
  items: [
    {
      id: 'evt_7t2m9qk4x1c8v5n3b6d0',
      type: 'monitor.digest',
      created_at: '2026-03-04T11:00:02.114Z',
      delivery_status: 'pending',
      attempts: 1,
      last_attempt_at: '2026-03-04T11:00:03.020Z',
      last_status: 503,
      last_error: 'http_status',
      next_attempt_at: '2026-03-04T11:00:34.377Z',
      delivered_at: null,
      digest: {
        interval: 'hourly',
        count: 1,
        url: `https://forum.example.com/dashboard/monitors/${monitorExamples.id}`,
        after: null,
        until: match!.id,
      },
    },
    {
      id: 'evt_1x8w4j6p0z5r2h7f9k3a',
      type: 'monitor.spike',
      created_at: '2026-03-04T10:03:11.630Z',
      delivery_status: 'delivered',
      attempts: 1,
      last_attempt_at: '2026-03-04T10:03:12.402Z',
      last_status: 204,
      last_error: null,
      next_attempt_at: null,
      delivered_at: '2026-03-04T10:03:12.402Z',
      spike: { at: '2026-03-04T09:00:00.000Z', interval: 'hour', count: 57, expected: 4, score: 11.2 },
    },
  ],
  after: null,
};

/** Requests and answers about deliveries, invented. */
export const deliveryExamples = {
  log: { items: [attempt], after: null },
  events,
  ofIds: { match_ids: [match!.id] },
  failedSince: { status: 'failed', since: '2026-03-04T00:00:00Z' },
  queued: { queued: 1, more: false },
};
