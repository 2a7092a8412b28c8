import type { z } from 'zod';
import type { ErrorCode } from '../../../shared/rules/error-codes.ts';
import { JSON_TYPE } from '../http/route.ts';
import type { AnswerDocument, Content, Route, RouteDocument } from '../http/route.ts';
import { errorResponsesOf } from './error-responses.ts';
import type { ErrorResponses } from './error-responses.ts';
import { queryParametersOf } from './json-schemas.ts';
import type { ComponentSchemas } from './json-schemas.ts';
import type { MediaType, Operation, Parameter, ResponseObject } from './openapi-shape.ts';
import { ACCOUNT_HEADERS, headersOf } from './response-headers.ts';
import type { HeaderUse } from './response-headers.ts';

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

/** Converts a path to OpenAPI's syntax. */
export function openApiPath(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

/**
 * Builds the operation of a route, and the components that its errors refer to.
 *
 * @param appUrl without a trailing slash
 * @param schemas gets those of its bodies
 */
export function operationOf(
  route: RouteDocument & Partial<Pick<Route, 'scope'>>,
  appUrl: string,
  schemas: ComponentSchemas,
): { operation: Operation; components: ErrorResponses['components'] } {
  const isPublic = route.isPublic === true;
  const { scope = 'any key' } = route;
  const ofScope: readonly ErrorCode[] = scope === 'any key' ? [] : ['insufficient_scope'];
  const errors: ErrorCode[] = [
    ...(isPublic ? [] : [...AUTHENTICATED, ...ofScope]),
    ...(route.body === undefined ? [] : OF_BODY),
    ...(route.params === undefined ? [] : (['not_found'] as const)),
    ...(route.isIdempotent === true ? (['idempotency_conflict'] as const) : []),
    ...(route.errors ?? []),
  ];
  const { responses, components } = errorResponsesOf(errors, isPublic);
  const answers = route.answers.map((answer): [string, ResponseObject] => [
    String(answer.status),
    answerOf(answer, route, schemas),
  ]);
  const operation: Operation = {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    description: scope === 'any key' ? route.description : `${route.description} Permission: \`${scope}\`.`,
    ...(route.isOfApp === true ? { servers: [{ url: appUrl, description: 'Sign-up of this installation' }] } : {}),
    security: isPublic ? [] : [{ bearer: [] }, { apiKey: [] }],
    parameters: parametersOf(route),
    // All members of a change are optional; an empty change has no effect.
    ...(route.body === undefined
      ? {}
      : { requestBody: { required: route.method !== 'patch', content: contentOf([route.body], 'input', schemas) } }),
    responses: { ...Object.fromEntries(answers), ...responses },
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

function answerOf(
  { description, content, headers = [] }: AnswerDocument,
  { isPublic = false, isIdempotent = false }: RouteDocument,
  schemas: ComponentSchemas,
): ResponseObject {
  const always: HeaderUse[] = [
    { name: 'X-Request-Id' },
    ...(isPublic ? [] : ACCOUNT_HEADERS.map((name): HeaderUse => ({ name }))),
    ...(isIdempotent ? [{ name: 'Idempotency-Replayed', optional: true } as const] : []),
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
    const examples = alternatives.flatMap((one) => Object.entries(one.examples));
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

function isZod(schema: Content['schema']): schema is z.ZodType {
  return '_zod' in schema;
}
