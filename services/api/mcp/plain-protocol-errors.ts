import type { z } from 'zod';
import { validationMessage } from '../http/validation-message.ts';

/** The package puts the validator's list of issues, as JSON, behind a colon; of `initialize` it sends that alone. */
const WITH_ISSUES = /^(?:([^[]*): )?(\[\s*\{.*\])$/s;
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;

/**
 * Rewrites the messages of protocol errors about malformed parameters in plain words: `params.name: is required`.
 *
 * @param text a JSON-RPC answer, or a batch of them
 */
export function plainProtocolErrors(text: string): string {
  if (!text.includes(`"code":${INVALID_PARAMS}`) && !text.includes(`"code":${INTERNAL_ERROR}`)) return text;
  const answers = JSON.parse(text) as unknown;
  for (const answer of Array.isArray(answers) ? (answers as unknown[]) : [answers]) {
    const { error } = answer as { error?: { code?: unknown; message?: unknown } };
    if (typeof error?.message !== 'string') continue;
    const message = plainMessage(error.message);
    if (message !== error.message) Object.assign(error, { code: INVALID_PARAMS, message });
  }
  return JSON.stringify(answers);
}

function plainMessage(message: string): string {
  const [, what = 'Invalid request', list] = WITH_ISSUES.exec(message) ?? [];
  if (list === undefined) return message;
  let issues: z.core.$ZodIssue[];
  try {
    issues = JSON.parse(list) as z.core.$ZodIssue[];
  } catch {
    return message;
  }
  return `${what}: ${issues.map((issue) => `${issue.path.map(String).join('.')}: ${wordsFor(issue)}`).join('; ')}`;
}

/** The list does not hold the values, only says in its own words whether there was one. */
function wordsFor(issue: z.core.$ZodIssue): string {
  const input = issue.message.endsWith('received undefined') ? undefined : null;
  return validationMessage({ ...issue, input } as z.core.$ZodRawIssue);
}
