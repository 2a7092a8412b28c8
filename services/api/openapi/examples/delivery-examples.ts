import type { DeliveryLogEntry } from '../../../../schemas/api/delivery-log.ts';
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

/** Requests and answers about deliveries, invented. */
export const deliveryExamples = {
  log: { items: [attempt], after: null },
  ofIds: { match_ids: [match!.id] },
  failedSince: { status: 'failed', since: '2026-03-04T00:00:00Z' },
  queued: { queued: 1, more: false },
};
