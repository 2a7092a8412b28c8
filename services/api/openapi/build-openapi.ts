import { errorEnvelope } from '../../../schemas/api/common.ts';
import { feedDocuments } from '../matches/feed-documents.ts';
import { API_VERSION } from '../http/route.ts';
import type { RouteDocument } from '../http/route.ts';
import { signupDocuments } from '../signup/signup-documents.ts';
import { webhookDocuments } from '../deliveries/webhook-documents.ts';
import { ComponentSchemas } from './json-schemas.ts';
import type { OpenApiDocument } from './openapi-shape.ts';
import { openApiPath, operationOf } from './operation.ts';
import { operationsDocuments } from './operations-documents.ts';
import { headerComponents } from './response-headers.ts';

const DESCRIPTION = `Reads, searches and monitors a large public discussion site, "the forum".

**Keys.** Routes below \`/v1\` need an API key, sent as \`Authorization: Bearer KEY\` or \`X-Api-Key: KEY\`. A key has permissions, by default all: \`forum:read\` for reading the forum, \`monitors:read\` and \`monitors:write\` for monitors, \`account\` for the account, its keys and its ledger. Each route names the one it needs; without it the answer is 403 \`insufficient_scope\`.

**Credits.** \`X-Credits-Used\` says what a request cost, \`X-Credits-Remaining\` what is left. Failed requests are free.

**Limits.** \`RateLimit-Policy\` and \`RateLimit\` say how many requests the account may send and how many are left; beyond that the answer is 429 with \`Retry-After\`. The limits apply to the account, not to each key.

**Retries.** Creating and resuming a monitor, rotating a secret and creating a key accept an \`Idempotency-Key\`: the same request with the same key is executed and charged once. An account may use 5,000 keys in 24 hours.

**Errors.** Every error has the body \`{"error": {"code", "message", "retryable", "retry_after"?}}\`. Branch on \`code\`; \`message\` is for people. The codes of each answer are listed in its description and in \`x-error-codes\`. Retry only when \`retryable\` is true, after \`Retry-After\` seconds if that header is present. \`X-Request-Id\` is on every answer: quote it when you ask for help.

**Compression.** Answers over 1 KiB are sent with brotli or gzip when \`Accept-Encoding\` names it; event streams never are.

**Webhooks.** Matches, and with the options \`spike_webhook\` and \`digest\` spikes and digests, are sent to the webhook of their monitor; this document describes the requests under \`webhooks\`.

**Pages.** Send the \`after\` of a page to get the next one. Unknown parameters and fields are refused on every route, so that a typo is not silently ignored. \`HEAD\` is refused (405) where \`GET\` costs credits. New fields may be added to answers within this version.

**Agents.** \`POST /mcp\` offers reading and monitors as tools over the Model Context Protocol, which describes them itself; clients without a key sign in by OAuth.`;

/**
 * Builds the OpenAPI document from the declared routes and the schemas that validate requests and type answers.
 *
 * @param baseUrl where clients reach the API, without a trailing slash
 * @param appUrl where they sign up, likewise
 */
export function buildOpenApiDocument(
  routes: readonly RouteDocument[],
  baseUrl: string,
  appUrl = baseUrl,
): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  const responses: OpenApiDocument['components']['responses'] = {};
  const schemas = new ComponentSchemas();
  schemas.add(errorEnvelope, 'output');
  for (const route of [...routes, ...signupDocuments, ...feedDocuments, ...operationsDocuments]) {
    const { operation, components } = operationOf(route, appUrl, schemas);
    paths[openApiPath(route.path)] = { ...paths[openApiPath(route.path)], [route.method]: operation };
    Object.assign(responses, components);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Forum reading, search and keyword monitoring',
      version: API_VERSION,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl, description: 'This installation' }],
    tags: [
      {
        name: 'Reading',
        description: 'Posts, comments, communities, users and search. One credit per call, unless noted.',
      },
      {
        name: 'Monitors',
        description: 'Monitors watch the forum for keywords. A running monitor costs 10 credits every 24 hours.',
      },
      { name: 'SQL', description: 'SELECT over the matches of your monitors. One credit per started second.' },
      { name: 'Coverage', description: 'What the service saw of the forum, and what it missed. Free.' },
      { name: 'Account', description: 'Balance, plan, limits, ledger and keys.' },
      { name: 'Sign-up', description: 'An account and a key for a program without a browser. No key is needed.' },
      {
        name: 'Operations',
        description: 'For operators of the service and for clients that read this document. No key is needed.',
      },
    ],
    paths,
    webhooks: webhookDocuments(schemas),
    components: {
      schemas: schemas.all,
      responses,
      headers: headerComponents(),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key.' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'An API key.' },
      },
    },
  };
}
