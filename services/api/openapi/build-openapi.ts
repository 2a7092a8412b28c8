import { z } from 'zod';
import { errorEnvelope } from '../../../schemas/api/common.ts';
import type { ErrorCode } from '../../../shared/rules/error-codes.ts';
import { webhookDocuments } from '../deliveries/webhook-documents.ts';
import { API_VERSION, isPublic, JSON_TYPE, openApiPath } from '../http/route.ts';
import type { ResponseDocument, Content, PublicRoute, Route, RouteDocument } from '../http/route.ts';
import { ComponentSchemas, exampleOf, queryParametersOf } from './json-schemas.ts';
import type { MediaType, OpenApiDocument, Operation, Parameter, ResponseObject } from './openapi-shape.ts';
import { ACCOUNT_HEADERS, errorResponsesOf, headerComponents, headersOf } from './responses.ts';
import type { ErrorResponses, HeaderUse } from './responses.ts';

const DESCRIPTION = `Reads, searches and monitors a large public discussion site, "the forum".

**Keys.** Routes below \`/v1\` need an API key, sent as \`Authorization: Bearer KEY\` or \`X-Api-Key: KEY\`. A key has permissions, by default all: \`forum:read\` for reading the forum, \`monitors:read\` and \`monitors:write\` for monitors, \`account\` for the account, its keys and its ledger. Each route names the one it needs; without it the response is 403 \`insufficient_scope\`.

**Credits.** \`X-Credits-Used\` says what a request cost, \`X-Credits-Remaining\` what is left. Failed requests are free.

**Limits.** \`RateLimit-Policy\` and \`RateLimit\` say how many requests the account may send and how many are left; beyond that the response is 429 with \`Retry-After\`. The limits apply to the account, not to each key.

**Retries.** Creating and resuming a monitor, rotating a secret and creating a key accept an \`Idempotency-Key\`: the same request with the same key is executed and charged once. An account may use 5,000 keys in 24 hours.

**Errors.** Every error has the body \`{"error": {"code", "message", "doc_url", "retryable", "retry_after"?}}\`. Branch on \`code\`; \`message\` is for people. The codes of each response are listed in its description and in \`x-error-codes\`. Retry only when \`retryable\` is true, after \`Retry-After\` seconds if that header is present. \`X-Request-Id\` is on every response: quote it when you ask for help.

**Compression.** Responses over 1 KiB are sent with brotli or gzip when \`Accept-Encoding\` names it; event streams never are.

**Webhooks.** Matches, and with the options \`spike_webhook\` and \`digest\` spikes and digests, are sent to the webhook of their monitor; this document describes the requests under \`webhooks\`.

**Pages.** Send the \`after\` of a page to get the next one. Unknown parameters and fields are refused on every route, so that a typo is not silently ignored. \`HEAD\` is refused (405) where \`GET\` costs credits. New fields may be added to responses within this version.

**Agents.** \`POST /mcp\` offers reading and monitors as tools over the Model Context Protocol, which describes them itself; clients without a key sign in by OAuth.`;

/**
 * Builds the OpenAPI document from the declared routes and the schemas that validate requests and type answers.
 *
 * @param baseUrl where clients reach the API, without a trailing slash
 * @param appUrl where they sign up, likewise
 */
export function buildOpenApiDocument(
  routes: readonly (Route | PublicRoute)[],
  baseUrl: string,
  appUrl = baseUrl,
): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  const responses: OpenApiDocument['components']['responses'] = {};
  const schemas = new ComponentSchemas();
  schemas.add(errorEnvelope, 'output');
  for (const route of routes) {
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
      {
        name: 'SQL',
        description: 'SELECT over the matches of your monitors. One credit for each started million rows.',
      },
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

/** Errors of every route below /v1, in addition to its own. */
const AUTHENTICATED: readonly ErrorCode[] = [
  'invalid_request',
  'unauthorized',
  'account_frozen',
  'method_not_allowed',
  'not_acceptable',
  'rate_limited',
  'daily_limit_reached',
  'internal_error',
];

/** Errors of every route with a body. */
const OF_BODY: readonly ErrorCode[] = ['invalid_request', 'payload_too_large', 'unsupported_media_type'];

/**
 * Builds the operation of a route, and the components that its errors refer to.
 *
 * @param appUrl without a trailing slash
 * @param schemas gets those of its bodies
 */
function operationOf(
  route: Route | PublicRoute,
  appUrl: string,
  schemas: ComponentSchemas,
): { operation: Operation; components: ErrorResponses['components'] } {
  const scope = isPublic(route) ? 'any key' : route.scope;
  const ofScope: readonly ErrorCode[] = scope === 'any key' ? [] : ['insufficient_scope'];
  const errors: ErrorCode[] = [
    ...(isPublic(route) ? [] : [...AUTHENTICATED, ...ofScope]),
    ...(route.body === undefined ? [] : OF_BODY),
    ...(route.params === undefined ? [] : (['not_found'] as const)),
    ...(route.isIdempotent === true ? (['idempotency_conflict'] as const) : []),
    ...(route.errors ?? []),
  ];
  const { responses: refusals, components } = errorResponsesOf(errors, isPublic(route));
  const responses = route.responses.map((one) => [String(one.status), responseOf(one, route, schemas)] as const);
  const operation: Operation = {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    description: scope === 'any key' ? route.description : `${route.description} Permission: \`${scope}\`.`,
    ...(isPublic(route) && route.isOfApp === true
      ? { servers: [{ url: appUrl, description: 'Sign-up of this installation' }] }
      : {}),
    security: isPublic(route) ? [] : [{ bearer: [] }, { apiKey: [] }],
    parameters: parametersOf(route),
    // All members of a change are optional; an empty change has no effect.
    ...(route.body === undefined
      ? {}
      : { requestBody: { required: route.method !== 'patch', content: contentOf([route.body], 'input', schemas) } }),
    responses: { ...Object.fromEntries(responses), ...refusals },
  };
  return { operation, components };
}

const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A name for this request, unique in the account for 24 hours: a repeat with the same body gets the first answer and costs nothing.',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
  example: '0c8f7a52-6a6d-4f0e-9f0b-6f1d9a1f2b3c',
};

function parametersOf(route: RouteDocument): Parameter[] {
  const { params = {}, query, example = {}, headers = [], isIdempotent = false } = route;
  return [
    ...Object.entries(params).map(([name, { description, example: value }]): Parameter => {
      return { name, in: 'path', required: true, description, schema: { type: 'string' }, example: value };
    }),
    ...(query === undefined ? [] : queryParametersOf(query, example)),
    ...headers,
    ...(isIdempotent ? [IDEMPOTENCY_KEY] : []),
  ];
}

function responseOf(
  { description, content, headers = [] }: ResponseDocument,
  route: Route | PublicRoute,
  schemas: ComponentSchemas,
): ResponseObject {
  const always: HeaderUse[] = [
    { name: 'X-Request-Id' },
    ...(isPublic(route) ? [] : ACCOUNT_HEADERS.map((name): HeaderUse => ({ name }))),
    ...(route.isIdempotent === true ? [{ name: 'Idempotency-Replayed', optional: true } as const] : []),
  ];
  return {
    description,
    headers: headersOf([...always, ...headers]),
    ...(content.length === 0 ? {} : { content: contentOf(content, 'output', schemas) }),
  };
}

/** Answers of one media type that differ by a parameter are alternatives. */
function contentOf(
  content: readonly Content[],
  side: 'input' | 'output',
  schemas: ComponentSchemas,
): Record<string, MediaType> {
  const byType = Map.groupBy(content, ({ type }) => type ?? JSON_TYPE);
  const mediaTypes = [...byType].map(([type, alternatives]): [string, MediaType] => {
    const found = alternatives.map(({ schema }) => (isZod(schema) ? schemas.add(schema, side) : schema));
    const examples = alternatives.flatMap((one) => Object.entries(one.examples ?? ownExample(one, side)));
    return [
      type,
      {
        schema: found.length === 1 ? found[0]! : { anyOf: found },
        examples: Object.fromEntries(examples.map(([name, value]) => [name, { value }])),
      },
    ];
  });
  return Object.fromEntries(mediaTypes);
}

/** The example of a named schema, by its name. */
function ownExample({ schema }: Content, side: 'input' | 'output'): Record<string, unknown> {
  return isZod(schema) ? { [z.globalRegistry.get(schema)?.id ?? 'example']: exampleOf(schema, side) } : {};
}

function isZod(schema: Content['schema']): schema is z.ZodType {
  return '_zod' in schema;
}
