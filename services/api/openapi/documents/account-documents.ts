import { ledgerQuery, usageQuery } from '../../../../schemas/api/account.ts';
import { accountExamples as examples } from '../examples/account-examples.ts';
import type { ComponentName } from '../component-schemas.ts';
import type { AnswerDocument, RouteDocument } from '../route-document.ts';

function ok(description: string, schema: ComponentName, name: string, value: unknown): AnswerDocument {
  return { status: 200, description, content: [{ schema, examples: { [name]: value } }] };
}

/** Documents the routes of the caller's account. */
export const accountDocuments: readonly RouteDocument[] = [
  {
    method: 'get',
    path: '/v1/account',
    operationId: 'getAccount',
    tag: 'Account',
    summary: 'Balance, plan and limits',
    description: 'The account that the key belongs to.',
    answers: [ok('The account.', 'Account', 'account', examples.account)],
    errors: [],
  },
  {
    method: 'delete',
    path: '/v1/account',
    operationId: 'deleteAccount',
    tag: 'Account',
    summary: 'Delete the account',
    description:
      'Permanently and at once: its keys stop working, and its monitors stop and are deleted. Its matches, webhook addresses and delivery attempts are removed soon after, and its remaining credits are lost. The ledger is kept without the address, and a keyed hash of the mailbox with what the account owes, which a later account of the mailbox owes then. The body names the address of the account, so that no script deletes an account by accident; a notice is mailed to it.',
    body: { schema: 'DeleteAccount', examples: { address: { email: examples.account.email } } },
    answers: [ok('The account is deleted.', 'AccountDeleted', 'deleted', { status: 'deleted' })],
    errors: ['invalid_request', 'payload_too_large', 'unsupported_media_type'],
  },
  {
    method: 'get',
    path: '/v1/account/ledger',
    operationId: 'getLedger',
    tag: 'Account',
    summary: 'List balance changes',
    description:
      'Grants, purchases and charges, newest first, each with the balance after it; the balance is the sum of all amounts. A `pack` is a purchase, whose `reference` is that of its receipt; `refund` are credits taken back after a refund or a dispute of one, and a dispute that is won returns them as `pack`. A `correction` is made by the operator where the balance differed from the sum. A `reversal` gives back a charge for a read or a statement that was answered 503 because its outcome was not known; it has the `reference` and `request_id` of that charge. With `Accept: text/csv` the same page is sent as CSV, with the next page in the header `Link`.',
    query: ledgerQuery,
    example: { limit: 25 },
    answers: [
      {
        status: 200,
        description: 'A page of entries.',
        content: [
          { schema: 'LedgerPage', examples: { page: examples.ledger } },
          { type: 'text/csv', schema: { type: 'string' }, examples: { table: examples.ledgerTable } },
        ],
        headers: [{ name: 'Link', optional: true }],
      },
    ],
    errors: ['invalid_request'],
  },
  {
    method: 'get',
    path: '/v1/account/usage',
    operationId: 'getUsage',
    tag: 'Account',
    summary: 'Sum charges by day, route or key',
    description:
      'What credits were spent on: reads, new and resumed monitors, and renewals. Refunds and corrections are not usage, nor are charges that were reversed. `GET /v1/account/ledger` lists each charge.',
    query: usageQuery,
    example: { by: 'route' },
    answers: [ok('The sums.', 'Usage', 'usage', examples.usage)],
    errors: ['invalid_request'],
  },
  {
    method: 'get',
    path: '/v1/account/keys',
    operationId: 'listKeys',
    tag: 'Account',
    summary: 'List the keys of the account',
    description: 'Active keys, oldest first, without their secrets.',
    answers: [ok('The keys.', 'ApiKeyList', 'keys', { items: [examples.key] })],
    errors: [],
  },
  {
    method: 'post',
    path: '/v1/account/keys',
    operationId: 'createKey',
    tag: 'Account',
    summary: 'Create a key',
    description:
      'An account has at most 20 active keys, and may create 40 a day. The permissions are `forum:read`, `monitors:read`, `monitors:write` and `account`, by default all of them. A key can only grant permissions that it has itself. To rotate a key without downtime: create one, use it, revoke the old one. The owner of the account is told by mail.',
    body: { schema: 'CreateApiKey', examples: { named: { name: 'laptop' } } },
    isIdempotent: true,
    answers: [
      {
        status: 201,
        description: 'The key; `api_key` is shown only this once.',
        headers: [{ name: 'Idempotency-Replayed', optional: true }],
        content: [
          { schema: 'CreatedApiKey', examples: { created: { key: examples.key, api_key: examples.wholeKey } } },
        ],
      },
    ],
    errors: ['invalid_request', 'payload_too_large', 'unsupported_media_type', 'idempotency_conflict'],
  },
  {
    method: 'delete',
    path: '/v1/account/keys/:id',
    operationId: 'revokeKey',
    tag: 'Account',
    summary: 'Revoke a key',
    description:
      'Requests sent after the answer are refused by every process. A key may revoke itself. Revoking a revoked key changes nothing.',
    id: { description: 'Id of a key.', example: examples.key.id },
    answers: [ok('The key is revoked.', 'ApiKeyRevoked', 'revoked', { status: 'revoked' })],
    errors: ['not_found'],
  },
  {
    method: 'get',
    path: '/v1/account/grants',
    operationId: 'listGrants',
    tag: 'Account',
    summary: 'List authorised programs',
    description:
      'Active grants from the consent page of the tool server, newest first, at most 1,000. A program that was authorised twice appears twice.',
    answers: [ok('The grants.', 'AccountGrantList', 'grants', { items: [examples.grant] })],
    errors: [],
  },
  {
    method: 'delete',
    path: '/v1/account/grants/:id',
    operationId: 'revokeGrant',
    tag: 'Account',
    summary: 'Revoke the grant of a program',
    description:
      'Its codes and tokens stop working: requests sent after the answer are refused by every process. The program must be authorised again.',
    id: { description: 'Id of a grant.', example: examples.grant.id },
    answers: [ok('The grant is revoked.', 'AccountGrantRevoked', 'revoked', { status: 'revoked' })],
    errors: ['not_found'],
  },
];
