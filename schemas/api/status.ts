import { z } from 'zod';
import { count, example, timestamp } from '../messages/forum-item.ts';

const seconds = z.number().min(0).meta(example(1.4));

export const partStatus = z.enum(['ok', 'degraded', 'down', 'unknown']);

export type PartStatus = z.infer<typeof partStatus>;

/** @param message for instance */
const part = (message: string) => ({ status: partStatus, message: z.string().meta(example(message)) });

/** Response of GET /status. */
export const serviceStatus = z
  .strictObject({
    status: z
      .enum(['ok', 'degraded', 'down'])
      .describe('`down` when any part is down; otherwise `degraded` when any part is not `ok`.'),
    checked_at: timestamp.describe('When it was measured.'),
    parts: z
      .strictObject({
        services: z.strictObject(part('All parts of the service are responding.')),
        items: z.strictObject({
          ...part('The newest item was seen 1.4 s ago.'),
          newest_age_seconds: seconds.nullable(),
        }),
        processing: z.strictObject({
          ...part('Every stage is up to date.'),
          waiting_records: z
            .record(z.string(), count)
            .nullable()
            .meta(example({ matcher: 12, recorder: 0, deliverer: 0 })),
        }),
        deliveries: z.strictObject({
          ...part('No delivery is due.'),
          due: count.nullable().meta(example(0)),
          oldest_due_seconds: seconds.nullable().meta(example(null)),
        }),
        clocks: z.strictObject({
          ...part('The clocks agree.'),
          skew_seconds: z.number().nullable().meta(example(0.002)),
        }),
      })
      .describe(
        '`services`: whether everything responds. `items`: the age of the newest item. `processing`: the records that are waiting, by the stage that reads them. `deliveries`: how many are due now; a lower bound when there are very many. `clocks`: how many seconds the brokers are ahead of the database, negative when behind; null when nothing was compared recently.',
      ),
  })
  .meta({ id: 'ServiceStatus' });

export type ServiceStatus = z.infer<typeof serviceStatus>;

/** Responses of GET /healthz and GET /readyz. */
export const health = z.strictObject({ status: z.literal('ok') }).meta({ id: 'Health' });
export const readiness = z
  .strictObject({ ready: z.boolean(), parts: z.record(z.string(), z.boolean()) })
  .meta({ id: 'Readiness', ...example({ ready: true, parts: { postgres: true, kafka: true } }) });
