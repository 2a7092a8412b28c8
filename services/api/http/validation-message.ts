import type { z } from 'zod';

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
