import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { ErrorEnvelope } from '../../../schemas/api/common.ts';
import { ERROR_CODES } from '../../../shared/rules/error-codes.ts';
import type { ErrorCode } from '../../../shared/rules/error-codes.ts';
import type {
  HeaderObject,
  MediaType,
  OpenApiDocument,
  Operation,
  Reference,
  ResponseObject,
} from '../../../services/api/openapi/openapi-shape.ts';

/** A reply does not conform to the API's description. */
export class UndocumentedError extends Error {
  override name = 'UndocumentedError';
}

/** Our own headers. Clients may rely on them, so they must be documented wherever they are sent. */
const OURS =
  /^(x-(request-id|credits-|cache-|comments-|has-|service-)|ratelimit|retry-after$|allow$|www-authenticate$|etag$)/;
const METHODS = ['get', 'post', 'patch', 'delete'] as const;
const ROOT = 'openapi';

interface Compiled {
  ajv: Ajv2020;
  validators: Map<string, ValidateFunction>;
}

const compiled = new WeakMap<OpenApiDocument, Compiled>();

/**
 * Validates a reply by the document: its status, headers, type and body. Replies on paths that the document does not
 * know are not looked at.
 *
 * @param path as requested; what follows a question mark is ignored
 * @param body the text as it came
 * @throws UndocumentedError that names the route, the status and what is wrong
 */
export function checkResponse(
  document: OpenApiDocument,
  method: string,
  path: string,
  status: number,
  headers: Headers,
  body: string,
): void {
  const pattern = patternOf(document, path);
  if (pattern === undefined) return;
  const operation = operationOf(document, pattern, method, status);
  if (operation === 'unknown route') return;
  const context = `${method} ${pattern} answered ${status} (${path}):`;
  const named = operation?.responses[String(status)];
  if (named === undefined)
    throw new UndocumentedError(`${context} this status is not documented: ${body.slice(0, 300)}`);
  const response = resolved<ResponseObject>(document, named);
  checkHeaders(document, response, headers, context);
  // An answer to HEAD has only the headers of GET.
  if (method.toUpperCase() === 'HEAD') return;
  checkBody(document, response, headers, body, context);
}

/** The path of the document that matches a request's path, with the fewest parameters. */
function patternOf(document: OpenApiDocument, path: string): string | undefined {
  const asked = (path.split('?')[0] ?? '')
    .replace(/(?<=.)\/$/, '')
    .toLowerCase()
    .split('/');
  const fits = (pattern: string) => {
    const parts = pattern.split('/');
    return parts.length === asked.length && parts.every((part, index) => isOf(part, asked[index]!));
  };
  const found = Object.keys(document.paths).filter(fits);
  return found.sort((a, b) => a.split('{').length - b.split('{').length)[0];
}

/** Whether a part of a path is of a pattern: as it is, or with a parameter at its beginning. */
function isOf(pattern: string, part: string): boolean {
  return pattern.startsWith('{') ? part.endsWith(pattern.slice(pattern.indexOf('}') + 1)) : part === pattern;
}

/**
 * A method that a path does not have is rejected like its other methods. If no key is needed, it is an unknown route.
 */
function operationOf(
  document: OpenApiDocument,
  pattern: string,
  method: string,
  status: number,
): Operation | 'unknown route' | undefined {
  const item = document.paths[pattern] ?? {};
  const asked = method.toUpperCase() === 'HEAD' ? 'get' : method.toLowerCase();
  const known = METHODS.find((one) => one === asked && item[one] !== undefined);
  if (known === undefined) {
    const [other] = Object.values(item);
    if (other?.security.length === 0) return 'unknown route';
    return [401, 405, 406, 500].includes(status) ? other : undefined;
  }
  // The path has the method, so it cannot be rejected as the wrong method. Only HEAD may be refused where GET is not.
  return status === 405 && method.toUpperCase() !== 'HEAD' ? undefined : item[known];
}

function checkHeaders(document: OpenApiDocument, response: ResponseObject, headers: Headers, context: string): void {
  const documented = new Map(Object.entries(response.headers).map(([name, header]) => [name.toLowerCase(), header]));
  for (const [name, given] of documented) {
    const header = resolved<HeaderObject>(document, given);
    const value = headers.get(name);
    if (value === null) {
      if (header.required) throw new UndocumentedError(`${context} the header ${name} is missing`);
      continue;
    }
    const { type } = header.schema;
    validate(document, header.schema, typedValue(value, type), `${context} header ${name}`);
  }
  for (const name of headers.keys()) {
    if (OURS.test(name) && !documented.has(name)) {
      throw new UndocumentedError(`${context} the header ${name} is not documented`);
    }
  }
}

function checkBody(
  document: OpenApiDocument,
  { content, 'x-error-codes': codes }: ResponseObject,
  headers: Headers,
  body: string,
  context: string,
): void {
  const type = (headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '';
  if (content === undefined) {
    if (body !== '') throw new UndocumentedError(`${context} a body is not documented`);
    return;
  }
  const media: MediaType | undefined = content[type];
  if (media === undefined) throw new UndocumentedError(`${context} the type "${type}" is not documented`);
  const value: unknown = /[/+]json$/.test(type) ? JSON.parse(body) : body;
  validate(document, media.schema, value, `${context} body`);
  if (codes !== undefined) checkErrorCode(codes, headers, value as ErrorEnvelope, context);
}

function checkErrorCode(
  codes: readonly ErrorCode[],
  headers: Headers,
  { error }: ErrorEnvelope,
  context: string,
): void {
  const code = codes.find((documented) => documented === error.code);
  if (code === undefined) throw new UndocumentedError(`${context} the code ${error.code} is not documented`);
  if (error.retryable !== ERROR_CODES[code].retryable) {
    throw new UndocumentedError(`${context} retryable of ${code} is ${String(error.retryable)}`);
  }
  const waits = headers.get('retry-after');
  if (waits !== (error.retry_after === undefined ? null : String(error.retry_after))) {
    throw new UndocumentedError(`${context} retry_after and the header Retry-After (${waits ?? 'absent'}) differ`);
  }
}

/**
 * Validates a value by a schema of the document, whose references it may use.
 *
 * @throws UndocumentedError that begins with `what`
 */
export function validate(document: OpenApiDocument, schema: object, value: unknown, what: string): void {
  const validator = validatorOf(document, JSON.stringify(schema));
  if (validator(value)) return;
  const faults = (validator.errors ?? [])
    .slice(0, 5)
    .map(({ instancePath, message, params }) => `${instancePath || '/'} ${message ?? ''} ${JSON.stringify(params)}`);
  throw new UndocumentedError(`${what}: ${faults.join('; ')}`);
}

function validatorOf(document: OpenApiDocument, schema: string): ValidateFunction {
  let compiledDocument = compiled.get(document);
  if (compiledDocument === undefined) {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    ajv.addSchema({ ...document, $id: ROOT });
    compiledDocument = { ajv, validators: new Map() };
    compiled.set(document, compiledDocument);
  }
  const known = compiledDocument.validators.get(schema);
  if (known !== undefined) return known;
  // References in the schema are relative to the whole document.
  const absolute = JSON.parse(schema.replaceAll('"$ref":"#/', `"$ref":"${ROOT}#/`)) as object;
  const validator = compiledDocument.ajv.compile(absolute);
  compiledDocument.validators.set(schema, validator);
  return validator;
}

function typedValue(value: string, type: unknown): unknown {
  if (type === 'integer') return /^-?\d+$/.test(value) ? Number(value) : value;
  if (type === 'boolean') return value === 'true' ? true : value === 'false' ? false : value;
  return value;
}

/** The target of a reference, or the value itself if it is not a reference. */
export function resolved<T extends object>(document: OpenApiDocument, value: T | Reference): T {
  if (!('$ref' in value)) return value;
  let found: unknown = document;
  for (const part of value.$ref.slice(2).split('/')) found = (found as Record<string, unknown>)[part];
  return found as T;
}
