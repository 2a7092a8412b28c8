import type { RequestHandler } from 'express';
import type { z } from 'zod';
import { ApiError } from './api-error.ts';
import type { Fault } from './api-error.ts';

const MAX_FAULTS_NAMED = 5;

/** A 400 that lists the faults, each with its field first; only the first few when there are many. */
export function invalidRequest(faults: readonly Fault[]): ApiError {
  const named = faults.slice(0, MAX_FAULTS_NAMED).map(({ field, message }) => `${field}: ${message}`);
  const more = faults.length - named.length;
  return new ApiError('invalid_request', named.join('; ') + (more > 0 ? `; and ${more} more` : ''), { faults });
}

/** @throws ApiError invalid_request when there are any faults */
export function refuseFaults(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalidRequest(faults);
}

/**
 * Parses client input with a schema.
 *
 * @param whole the name for the value itself when it is not even an object
 * @throws ApiError invalid_request that names the wrong fields
 */
export function parseRequest<S extends z.ZodType>(schema: S, value: unknown, whole: string): z.output<S> {
  refuseManyValues(value);
  const parsed = schema.safeParse(value, { reportInput: true, error: validationMessage });
  if (parsed.success) return parsed.data;
  const unknown = isCutUrl(value) ? UNKNOWN_AFTER_URL : UNKNOWN;
  throw invalidRequest(parsed.error.issues.flatMap((issue) => faultsOf(issue, whole, unknown)));
}

/** More than the longest rule has. Validating tens of thousands of values would stop the process for seconds. */
const MAX_VALUES = 2_000;

function refuseManyValues(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [field, member] of Object.entries(value) as [string, unknown][]) {
    const waiting = [member];
    for (let count = 0; waiting.length > 0; count++) {
      if (count > MAX_VALUES) throw invalidRequest([{ field: printable(field), message: 'has too many entries' }]);
      const next = waiting.pop();
      if (typeof next === 'object' && next !== null) waiting.push(...someOf(next));
    }
  }
}

/** At most one more than may be. */
function someOf(value: object): unknown[] {
  return Object.values(value).slice(0, MAX_VALUES + 1) as unknown[];
}

const UNKNOWN = 'is not known here';
const UNKNOWN_AFTER_URL = 'is not known here; if it is a part of the URL that you send, percent-encode the URL';

/** Whether a parameter is a URL with a query: what follows its first `&` arrives as other parameters. */
function isCutUrl(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((text) => typeof text === 'string' && /^https?:\/\/[^?]*\?/i.test(text));
}

function faultsOf(issue: z.core.$ZodIssue, whole: string, unknown: string): Fault[] {
  if (issue.code === 'invalid_union') {
    // Of the alternatives, the one of the value's own type says what is wrong with it.
    const meant = issue.errors.find(
      (issues) => !issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0),
    );
    const within = (found: z.core.$ZodIssue) => ({ ...found, path: [...issue.path, ...found.path] });
    if (meant !== undefined) return meant.flatMap((found) => faultsOf(within(found), whole, unknown));
    const types = issue.errors.flat().map(({ message }) => message.replace(/^must be /, ''));
    return [{ field: fieldName(issue.path), message: `must be ${types.join(' or ')}` }];
  }
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ field: fieldName([...issue.path, printable(key)]), message: unknown }));
  }
  return [{ field: issue.path.length === 0 ? whole : fieldName(issue.path), message: issue.message }];
}

function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : (index === 0 ? '' : '.') + String(part)))
    .join('');
}

/** A name that the client made up, for a message: shortened and without control characters. */
export function printable(key: string): string {
  return key.replace(/\p{C}/gu, '?').slice(0, 50);
}

/**
 * For routes without query parameters: refuses all, so that a client learns that its parameter has no effect.
 *
 * @throws ApiError invalid_request that names them
 */
export const refuseParameters: RequestHandler = (request, _response, next) => {
  refuseFaults(Object.keys(request.query).map((name) => ({ field: printable(name), message: 'is not known here' })));
  next();
};

/**
 * Says in plain words what is wrong with a value, where its schema does not say it: no text of the validator itself
 * reaches a client. Pass it as the `error` of a parse.
 */
export function validationMessage(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${typeName(String(issue.expected))}`;
    case 'invalid_value':
      return `must be ${(issue.values as unknown[]).map(String).join(' or ')}`;
    case 'too_small':
      return `must ${boundOf(issue, 'at least', Number(issue.minimum))}`;
    case 'too_big':
      return `must ${boundOf(issue, 'at most', Number(issue.maximum))}`;
    case 'not_multiple_of':
      return `must be a multiple of ${String(issue.divisor)}`;
    case 'unrecognized_keys':
      return 'has unknown members';
    default:
      return 'is not in the accepted form';
  }
}

function boundOf({ origin }: z.core.$ZodRawIssue, how: string, bound: number): string {
  if (origin === 'string') return `have ${how} ${bound} ${bound === 1 ? 'character' : 'characters'}`;
  if (origin === 'array' || origin === 'set') return `have ${how} ${bound} ${bound === 1 ? 'entry' : 'entries'}`;
  return `be ${how} ${bound}`;
}

function typeName(expected: string): string {
  if (expected === 'array') return 'a list';
  if (expected === 'boolean') return 'true or false';
  if (expected === 'object' || expected === 'record') return 'a JSON object';
  if (expected === 'int') return 'a whole number';
  // Express parses a repeated query parameter as a list.
  return expected === 'string' ? 'a single string' : `a ${expected}`;
}
