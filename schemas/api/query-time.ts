import { z } from 'zod';

/** A time in a query or body: ISO 8601 with its offset. */
export const queryTime = z.iso.datetime({
  offset: true,
  error: 'must be an ISO 8601 date and time with its offset, for instance 2026-03-04T10:00:00Z',
});
