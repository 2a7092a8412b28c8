import { z } from 'zod';
import { timestamp } from '../messages/forum-item.ts';

const count = z.number().int().min(0);
const seconds = z.number().min(0);

export const partStatus = z.enum(['ok', 'degraded', 'down', 'unknown']);

export type PartStatus = z.infer<typeof partStatus>;

const part = { status: partStatus, message: z.string() };

/** Response of GET /status. */
export const serviceStatus = z
  .strictObject({
    status: z
      .enum(['ok', 'degraded', 'down'])
      .describe('`down` when a part is down, else `degraded` when one is not `ok`.'),
    checked_at: timestamp.describe('When it was measured.'),
    parts: z
      .strictObject({
        services: z.strictObject(part),
        items: z.strictObject({ ...part, newest_age_seconds: seconds.nullable() }),
        processing: z.strictObject({ ...part, waiting_records: z.record(z.string(), count).nullable() }),
        deliveries: z.strictObject({ ...part, due: count.nullable(), oldest_due_seconds: seconds.nullable() }),
        clocks: z.strictObject({ ...part, skew_seconds: z.number().nullable() }),
      })
      .describe(
        '`services`: whether everything answers. `items`: the age of the newest item. `processing`: the records that wait, by the stage that reads them. `deliveries`: those due now, a lower bound when there are very many. `clocks`: by how many seconds the brokers are ahead of the database, negative when behind; null when nothing was compared lately.',
      ),
  })
  .meta({ id: 'ServiceStatus' });

export type ServiceStatus = z.infer<typeof serviceStatus>;

/** Responses of GET /healthz and GET /readyz. */
export const health = z.strictObject({ status: z.literal('ok') }).meta({ id: 'Health' });
export const readiness = z
  .strictObject({ ready: z.boolean(), parts: z.record(z.string(), z.boolean()) })
  .meta({ id: 'Readiness' });
