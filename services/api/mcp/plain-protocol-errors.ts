import type { z } from 'zod';
import { validationMessage } from '../http/validation-message.ts';

/** The package puts the validator's own list of issues, as JSON, behind a colon. */
const WITH_ISSUES = /^([^[]*): (\[\s*\{.*\])$/s;

/**
 * Rewrites the messages of protocol errors about malformed parameters in plain words: `params.name: is required`.
 *
 * @param text a JSON-RPC answer, or a batch of them
 */
export function plainProtocolErrors(text: string): string {
  if (!text.includes('"code":-32602')) return text;
  const answers = JSON.parse(text) as unknown;
  for (const answer of Array.isArray(answers) ? (answers as unknown[]) : [answers]) {
    const { error } = answer as { error?: { message?: unknown } };
    if (typeof error?.message === 'string') error.message = plainMessage(error.message);
  }
  return JSON.stringify(answers);
}

function plainMessage(message: string): string {
  const [, what, list] = WITH_ISSUES.exec(message) ?? [];
  if (what === undefined || list === undefined) return message;
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
