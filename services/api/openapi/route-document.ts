import type { z } from 'zod';
import type { ErrorCode } from '../../../shared/domain/error-codes.ts';
import { refTo } from './component-schemas.ts';
import type { ComponentName } from './component-schemas.ts';
import { scopeOfPath } from '../admission/scope.ts';
import { errorResponsesOf } from './error-responses.ts';
import type { ErrorResponses } from './error-responses.ts';
import { queryParametersOf } from './json-schemas.ts';
import type { MediaType, Method, Operation, Parameter, ResponseObject } from './openapi-shape.ts';
import { ACCOUNT_HEADERS, headersOf } from './response-headers.ts';
import type { HeaderUse } from './response-headers.ts';

/** A body of a request or answer. */
export interface ContentDocument {
  /** Default: application/json. */
  type?: string;
  /** A component, or a JSON Schema for content without one. */
  schema: ComponentName | { type: string; additionalProperties?: true };
  /** The name or summary of each example, and its value. */
  examples: Record<string, unknown>;
}

/** An answer that is not an error. */
export interface AnswerDocument {
  status: number;
  description: string;
  /** Empty: the answer has no body. */
  content: ContentDocument[];
  /** In addition to X-Request-Id and, on authenticated routes, X-Credits-Remaining. */
  headers?: HeaderUse[];
}

interface IdDocument {
  description: string;
  example: string;
}

/** One route, as documented in the API's description. */
export interface RouteDocument {
  method: Method;
  /** As in the route table: with `:id`. */
  path: string;
  /** Unique; names the function in generated clients. */
  operationId: string;
  tag: 'Reading' | 'Monitors' | 'SQL' | 'Coverage' | 'Account' | 'Sign-up' | 'Operations';
  summary: string;
  /** Markdown. */
  description: string;
  /** What the id in the path names, and an example. */
  id?: IdDocument;
  /** The same of the mute_id and of the run_id in the path. */
  muteId?: IdDocument;
  runId?: IdDocument;
  /** The same of the token in the path. */
  token?: IdDocument;
  query?: z.ZodObject;
  /** The parameters of an example request, by name. */
  example?: Record<string, unknown>;
  /** Request headers that the route reads, in addition to those of every route. */
  headers?: readonly Parameter[];
  body?: ContentDocument;
  /** Whether it honours `Idempotency-Key`. */
  isIdempotent?: boolean;
  answers: AnswerDocument[];
  errors: readonly ErrorCode[];
  /** Whether it needs no key. Routes below /v1 always do. */
  isPublic?: boolean;
  /** Whether it is served at the application's address, which may differ from the API's. */
  isOfApp?: boolean;
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

/** Converts a path to OpenAPI's syntax. */
export function openApiPath(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

/** Builds the operation of a route, and the components that its errors refer to. URLs have no trailing slash. */
export function operationOf(
  route: RouteDocument,
  appUrl: string,
): { operation: Operation; components: ErrorResponses['components'] } {
  const isPublic = route.isPublic === true;
  const scope = isPublic ? 'any key' : scopeOfPath(route.method, route.path);
  const ofScope: readonly ErrorCode[] = scope === 'any key' ? [] : ['insufficient_scope'];
  const always = isPublic ? [] : [...AUTHENTICATED, ...ofScope];
  const { responses, components } = errorResponsesOf([...always, ...route.errors], isPublic);
  const answers = route.answers.map((answer): [string, ResponseObject] => [
    String(answer.status),
    answerOf(answer, isPublic),
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
      : { requestBody: { required: route.method !== 'patch', content: contentOf([route.body]) } }),
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

function parametersOf({
  id,
  muteId,
  runId,
  token,
  query,
  example = {},
  headers = [],
  isIdempotent = false,
}: RouteDocument): Parameter[] {
  return [
    ...(id === undefined ? [] : [pathParameter('id', id)]),
    ...(muteId === undefined ? [] : [pathParameter('mute_id', muteId)]),
    ...(runId === undefined ? [] : [pathParameter('run_id', runId)]),
    ...(token === undefined ? [] : [pathParameter('token', token)]),
    ...(query === undefined ? [] : queryParametersOf(query, example)),
    ...headers,
    ...(isIdempotent ? [IDEMPOTENCY_KEY] : []),
  ];
}

function pathParameter(name: string, { description, example }: IdDocument): Parameter {
  return { name, in: 'path', required: true, description, schema: { type: 'string' }, example };
}

function answerOf({ description, content, headers = [] }: AnswerDocument, isPublic: boolean): ResponseObject {
  const always: HeaderUse[] = [
    { name: 'X-Request-Id' },
    ...(isPublic ? [] : ACCOUNT_HEADERS.map((name): HeaderUse => ({ name }))),
  ];
  return {
    description,
    headers: headersOf([...always, ...headers]),
    ...(content.length === 0 ? {} : { content: contentOf(content) }),
  };
}

/** Answers of one media type that differ by a parameter are alternatives. */
function contentOf(content: readonly ContentDocument[]): Record<string, MediaType> {
  const byType = Map.groupBy(content, ({ type }) => type ?? 'application/json');
  return Object.fromEntries([...byType].map(([type, alternatives]) => [type, mediaTypeOf(alternatives)]));
}

function mediaTypeOf(alternatives: readonly ContentDocument[]): MediaType {
  const schemas = alternatives.map(({ schema }) => (typeof schema === 'string' ? refTo(schema) : schema));
  const examples = alternatives.flatMap((one) => Object.entries(one.examples));
  return {
    schema: schemas.length === 1 ? schemas[0]! : { anyOf: schemas },
    examples: Object.fromEntries(examples.map(([name, value]) => [name, { value }])),
  };
}
