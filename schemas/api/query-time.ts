import { z } from 'zod';

const TIME = {
  offset: true,
  error: 'must be an ISO 8601 date and time with its offset, for instance 2026-03-04T10:00:00Z',
} as const;

/** The year 0, and offsets of 16 hours and more, which the database cannot read. */
const UNREADABLE = /^0000|[+-](?:1[6-9]|2\d):\d\d$/;

/** A time in a query or body: ISO 8601 with its offset. */
export const queryTime = z.iso.datetime(TIME).refine((text) => !UNREADABLE.test(text), TIME.error);
