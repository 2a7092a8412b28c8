import { z } from 'zod';
import { count, example, timestamp } from '../messages/forum-item.ts';
import { givenName, queryInteger } from './common.ts';

/** Response of GET /v1/account. */
export const account = z
  .strictObject({
    id: z.string().meta(example('acc_5n2w8r0c6h1j')),
    email: z.string().meta(example('you@example.com')),
    balance: count.describe('Credits.').meta(example(4_987)),
    plan: z
      .enum(['free', 'pack_9', 'pack_29', 'pack_79'])
      .describe('`free`, or the largest pack bought.')
      .meta(example('pack_9')),
    limits: z.strictObject({
      monitors: z.number().int().meta(example(10)),
      /** Per monitor and UTC day. */
      daily_match_cap: z.number().int().meta(example(1_000)),
      requests_per_second: z.number().int().meta(example(5)),
      request_burst: z.number().int().meta(example(10)),
      /** null: no daily limit. */
      requests_per_day: z.number().int().nullable(),
    }),
    created_at: timestamp,
  })
  .meta({ id: 'Account' });

export type Account = z.infer<typeof account>;

export const ledgerEntry = z
  .strictObject({
    id: z.string().meta(example('1042')),
    created_at: timestamp,
    kind: z
      .enum([
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
      ])
      .describe(
        '`correction`: the operator corrected a difference between the balance and this ledger. `reversal`: the refund of a charge whose request was answered with 503.',
      )
      .meta(example('monitor_create')),
    amount: z
      .number()
      .int()
      .describe('Credits: positive when added, negative when taken; 0 for a correction of the balance alone.')
      .meta(example(-10)),
    balance_after: count.meta(example(4_987)),
    reference: z
      .string()
      .describe('What was charged or granted; unique per kind. A reversal has the reference of the charge.')
      .meta(example('mon_3k7m2q9x4t8v:1')),
    request_id: z
      .string()
      .nullable()
      .describe(
        'The `X-Request-Id` of the request that was charged or whose charge was reversed. null for renewals, grants, corrections, and entries from before it was recorded.',
      )
      .meta(example('0c8f7a52-6a6d-4f0e-9f0b-6f1d9a1f2b3c')),
    route: z
      .string()
      .nullable()
      .describe(
        'The route of the request; for a tool call, the route that the tool maps to. null when `request_id` is null.',
      )
      .meta(example('POST /v1/monitors')),
    key_id: z
      .string()
      .nullable()
      .describe('The key that the request used; also null for a connected app.')
      .meta(example('4q8z1n6d')),
  })
  .meta({ id: 'LedgerEntry' });

export type LedgerEntry = z.infer<typeof ledgerEntry>;

/** Newest first. */
export const ledgerPage = z
  .strictObject({
    items: z.array(ledgerEntry),
    after: z
      .string()
      .nullable()
      .describe('Send it as `after` to get the next page of older entries; null on the last page.'),
  })
  .meta({ id: 'LedgerPage' });

/** Query of GET /v1/account/ledger. */
export const ledgerQuery = z.strictObject({
  limit: queryInteger(1, 100).default(25).describe('Entries per page.'),
  after: z
    .string()
    .regex(/^\d{1,15}$/, 'must be the `after` of a page')
    .optional()
    .describe('The `after` of the previous page; returns older entries.'),
});

const usageGrouping = z.enum(['day', 'route', 'key']);
const DATE = 'must be a date like 2026-03-04';
/** The database has no year 0. */
const date = z.iso
  .date({ error: DATE })
  .refine((text) => !text.startsWith('0000'), DATE)
  .meta(example('2026-03-04'));
const usageTotal = {
  charges: count.describe('The number of charges.'),
  credits: count.describe('The total of credits.').meta(example(10)),
};

/** Charges of one day, one route or one key; the other two are null. */
export const usageItem = z
  .strictObject({
    day: date.nullable().describe('With `by=day`: a UTC day that has charges.'),
    route: z
      .string()
      .nullable()
      .describe('With `by=route`: a route; null for monitor renewals and charges from before routes were recorded.'),
    key_id: z
      .string()
      .nullable()
      .describe(
        'With `by=key`: the key; null for charges without one, such as renewals and requests of connected apps.',
      ),
    ...usageTotal,
  })
  .meta({ id: 'UsageItem' });

export type UsageItem = z.infer<typeof usageItem>;

/** Response of GET /v1/account/usage. */
export const usage = z
  .strictObject({
    by: usageGrouping.describe('How charges are grouped.'),
    from: date.describe('First UTC day.'),
    to: date.describe('Last UTC day.'),
    items: z
      .array(usageItem)
      .describe('Days in chronological order; routes and keys with the most credits first. At most 1,000.'),
    total: z.strictObject(usageTotal).describe('The totals of the whole range.'),
  })
  .meta({ id: 'Usage' });

export type Usage = z.infer<typeof usage>;

/** Query of GET /v1/account/usage. The service checks that the days fit together. */
export const usageQuery = z.strictObject({
  by: usageGrouping.default('day').describe('How charges are grouped.'),
  from: date.optional().describe('First UTC day. Default: 29 days before `to`. At most 91 days before `to`.'),
  to: date.optional().describe('Last UTC day. Default: today.'),
});

/** The permissions of keys. `monitors:write` does not include `monitors:read`. */
export const KEY_SCOPES = ['forum:read', 'monitors:read', 'monitors:write', 'account'] as const;

export type KeyScope = (typeof KEY_SCOPES)[number];

const scope = z.enum(KEY_SCOPES);

export const apiKey = z
  .strictObject({
    id: z.string().describe('The 8 characters after `fk_`.').meta(example('4q8z1n6d')),
    name: z.string().meta(example('laptop')),
    scopes: z.array(scope).describe('The permissions of the key.'),
    created_at: timestamp,
    last_used_at: timestamp.nullable().describe('Accurate to the minute; null: never used.'),
  })
  .meta({ id: 'ApiKey' });

export type ApiKey = z.infer<typeof apiKey>;

/** A program that the user gave access to the account, through the sign-in for the tool server. */
export const accountGrant = z
  .strictObject({
    id: z.string().describe('Identifies the grant when you revoke it.').meta(example('gra_5f1c0b7a9d3e2f4860718293')),
    client_id: z
      .string()
      .describe('How the app identifies itself: the URL of its metadata document, or the id it registered.')
      .meta(example('https://notebook.example.com/client.json')),
    client_name: z
      .string()
      .nullable()
      .describe('The name that the app gave itself; null when it has none or is no longer known.')
      .meta(example('Notebook')),
    scopes: z
      .array(z.string())
      .describe('The permissions of the app: `forum:read`, `monitors`.')
      .meta(example(['forum:read', 'monitors'])),
    granted_at: timestamp,
    last_used_at: timestamp.nullable().describe('The last tool call, accurate to the minute; null: never used.'),
  })
  .meta({ id: 'AccountGrant' });

export type AccountGrantResource = z.infer<typeof accountGrant>;

/** Body of DELETE /v1/account. The service compares the address. */
export const deleteAccountBody = z
  .strictObject({ email: z.string().trim().describe('The e-mail address of the account, as in `GET /v1/account`.') })
  .meta({ id: 'DeleteAccount', ...example({ email: 'you@example.com' }) });

/** Body of POST /v1/account/keys. */
export const createKeyBody = z
  .strictObject({
    name: givenName.describe('A name of your choice.').meta(example('laptop')),
    scopes: z
      .array(scope)
      .refine((scopes) => new Set(scopes).size === scopes.length, 'must name each permission once')
      .default([...KEY_SCOPES])
      .describe('The permissions of the new key. The requesting key must have each of them.'),
  })
  .meta({ id: 'CreateApiKey' });

export const accountDeleted = z.strictObject({ status: z.literal('deleted') }).meta({ id: 'AccountDeleted' });
export const apiKeyList = z.strictObject({ items: z.array(apiKey) }).meta({ id: 'ApiKeyList' });
export const wholeKey = z.string().meta(example('fk_4q8z1n6dEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAM'));
export const createdApiKey = z.strictObject({ key: apiKey, api_key: wholeKey }).meta({ id: 'CreatedApiKey' });
export const apiKeyRevoked = z.strictObject({ status: z.literal('revoked') }).meta({ id: 'ApiKeyRevoked' });
export const accountGrantList = z.strictObject({ items: z.array(accountGrant) }).meta({ id: 'AccountGrantList' });
export const accountGrantRevoked = z.strictObject({ status: z.literal('revoked') }).meta({ id: 'AccountGrantRevoked' });
