import type { z } from 'zod';
import { ApiError } from './api-error.ts';

/** One thing that is wrong in a request. */
export interface Fault {
  /** The field by the client's name for it: `limit`, `keywords[2]`. */
  field: string;
  message: string;
}

const MAX_FAULTS_NAMED = 5;

/** A 400 that lists the faults, each with its field first; only the first few when there are many. */
export function invalidRequest(faults: readonly Fault[]): ApiError {
  const named = faults.slice(0, MAX_FAULTS_NAMED).map(({ field, message }) => `${field}: ${message}`);
  const more = faults.length - named.length;
  return new ApiError('invalid_request', named.join('; ') + (more > 0 ? `; and ${more} more` : ''));
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
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw invalidRequest(parsed.error.issues.flatMap((issue) => faultsOf(issue, whole)));
}

function faultsOf(issue: z.core.$ZodIssue, whole: string): Fault[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ field: printable(key), message: 'is not known here' }));
  }
  return [{ field: issue.path.length === 0 ? whole : fieldName(issue.path), message: messageOf(issue) }];
}

function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : (index === 0 ? '' : '.') + String(part)))
    .join('');
}

function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') {
    return issue.input === undefined ? 'is required' : `must be ${typeName(issue.expected)}`;
  }
  if (issue.code === 'invalid_value') return `must be ${issue.values.map(String).join(' or ')}`;
  return issue.message;
}

function typeName(expected: string): string {
  if (expected === 'array') return 'a list';
  if (expected === 'boolean') return 'true or false';
  if (expected === 'object') return 'a JSON object';
  // Express parses a repeated query parameter as a list.
  return expected === 'string' ? 'a single string' : `a ${expected}`;
}

/** A name that the client made up, for a message: shortened and without control characters. */
export function printable(key: string): string {
  return key.replace(/\p{C}/gu, '?').slice(0, 50);
}
