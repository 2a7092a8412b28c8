import { z } from 'zod';
import { timestamp } from '../messages/forum-item.ts';

const count = z.number().int().min(0);
const seconds = z.number().min(0);

export const partStatus = z.enum(['ok', 'degraded', 'down', 'unknown']);

export type PartStatus = z.infer<typeof partStatus>;

const part = { status: partStatus, message: z.string() };

/** Answer of GET /status. */
export const serviceStatus = z.strictObject({
  status: z.enum(['ok', 'degraded', 'down']),
  checked_at: timestamp,
  parts: z.strictObject({
    services: z.strictObject(part),
    items: z.strictObject({ ...part, newest_age_seconds: seconds.nullable() }),
    processing: z.strictObject({ ...part, waiting_records: z.record(z.string(), count).nullable() }),
    deliveries: z.strictObject({ ...part, due: count.nullable(), oldest_due_seconds: seconds.nullable() }),
    clocks: z.strictObject({ ...part, skew_seconds: z.number().nullable() }),
  }),
});

export type ServiceStatus = z.infer<typeof serviceStatus>;
