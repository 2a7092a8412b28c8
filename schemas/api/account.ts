import { z } from 'zod';
import { timestamp } from '../messages/forum-item.ts';
import { givenName } from './given-name.ts';
import { queryInteger } from './query-integer.ts';

/** Answer of GET /v1/account. */
export const account = z.strictObject({
  id: z.string(),
  email: z.string(),
  /** Credits. */
  balance: z.number().int().min(0),
  /** free, or the largest pack bought. */
  plan: z.enum(['free', 'pack_9', 'pack_29', 'pack_79']),
  limits: z.strictObject({
    monitors: z.number().int(),
    /** Per monitor and UTC day. */
    daily_match_cap: z.number().int(),
    requests_per_second: z.number().int(),
    request_burst: z.number().int(),
    /** null: no daily limit. */
    requests_per_day: z.number().int().nullable(),
  }),
  created_at: timestamp,
});

export type Account = z.infer<typeof account>;

/** A change of the balance. */
export const ledgerEntry = z.strictObject({
  id: z.string(),
  created_at: timestamp,
  kind: z.enum([
    'grant',
    'pack',
    'refund',
    'monitor_create',
    'monitor_resume',
    'monitor_renewal',
    'backfill',
    'read',
    'sql',
    'correction',
    'reversal',
  ]),
  /** Credits: positive for a grant or a reversal, negative for a charge; any for a correction, also 0. */
  amount: z.number().int(),
  balance_after: z.number().int().min(0),
  /** What was charged or granted. */
  reference: z.string(),
  /** The request that caused a charge, or whose charge is reversed. */
  request_id: z.string().nullable(),
  route: z.string().nullable(),
  key_id: z.string().nullable(),
});

export type LedgerEntry = z.infer<typeof ledgerEntry>;

/** Newest first. */
export const ledgerPage = z.strictObject({
  items: z.array(ledgerEntry),
  /** Cursor of the next, older page; null on the last page. */
  after: z.string().nullable(),
});

export type LedgerPage = z.infer<typeof ledgerPage>;

/** Query of GET /v1/account/ledger. */
export const ledgerQuery = z.strictObject({
  limit: queryInteger(1, 100).default(25).describe('Entries per page.'),
  after: z
    .string()
    .regex(/^\d{1,15}$/, 'must be the `after` of a page')
    .optional()
    .describe('The `after` of the previous page: returns the entries older than its last one.'),
});

const usageGrouping = z.enum(['day', 'route', 'key']);
const DATE = 'must be a date like 2026-03-04';
/** The database has no year 0. */
const date = z.iso.date({ error: DATE }).refine((text) => !text.startsWith('0000'), DATE);
const usageTotal = { charges: z.number().int().min(0), credits: z.number().int().min(0) };

/** Charges of one day, one route or one key; the other two are null. */
export const usageItem = z.strictObject({
  day: date.nullable(),
  route: z.string().nullable(),
  key_id: z.string().nullable(),
  ...usageTotal,
});

export type UsageItem = z.infer<typeof usageItem>;

/** Answer of GET /v1/account/usage. */
export const usage = z.strictObject({
  by: usageGrouping,
  /** UTC days, both included. */
  from: date,
  to: date,
  items: z.array(usageItem),
  total: z.strictObject(usageTotal),
});

export type Usage = z.infer<typeof usage>;

/** Query of GET /v1/account/usage. The service checks that the days fit together. */
export const usageQuery = z.strictObject({
  by: usageGrouping.default('day').describe('What charges are grouped by.'),
  from: date.optional().describe('First UTC day. Default: 29 days before `to`. At most 91 days before `to`.'),
  to: date.optional().describe('Last UTC day. Default: today.'),
});

/** The permissions of keys. `monitors:write` does not include `monitors:read`. */
export const KEY_SCOPES = ['forum:read', 'monitors:read', 'monitors:write', 'account'] as const;

export type KeyScope = (typeof KEY_SCOPES)[number];

const scope = z.enum(KEY_SCOPES);

/** A key without its secret. */
export const apiKey = z.strictObject({
  /** The public first part of the key. */
  id: z.string(),
  name: z.string(),
  scopes: z.array(scope),
  created_at: timestamp,
  /** Accurate to the minute; null: never. */
  last_used_at: timestamp.nullable(),
});

export type ApiKey = z.infer<typeof apiKey>;

/** A program that the user gave access to the account, through the sign-in for the tool server. */
export const accountGrant = z.strictObject({
  id: z.string(),
  client_id: z.string(),
  /** The name that the program gave itself; null when it gave none or is no longer registered. */
  client_name: z.string().nullable(),
  scopes: z.array(z.string()),
  granted_at: timestamp,
  /** Accurate to the minute; null: never. */
  last_used_at: timestamp.nullable(),
});

export type AccountGrantResource = z.infer<typeof accountGrant>;

/** Body of DELETE /v1/account. The service compares the address. */
export const deleteAccountBody = z.strictObject({ email: z.string().trim() });

/** Body of POST /v1/account/keys. */
export const createKeyBody = z.strictObject({
  name: givenName,
  scopes: z
    .array(scope)
    .refine((scopes) => new Set(scopes).size === scopes.length, 'must name each permission once')
    .default([...KEY_SCOPES]),
});
