import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ApiError } from '../../../../../services/api/http/api-error.ts';
import { parseRequest } from '../../../../../services/api/http/invalid-request.ts';
import { validationMessage } from '../../../../../services/api/http/validation-message.ts';

/** Words of the validator, of the language, and of nobody who speaks to a client. */
const RAW = /expected|received|invalid|NaN|too (small|big)|undefined|\[object|unrecognized|zod|regex|pattern|Infinity/i;

/** Values as queries have them, and as bodies have them. */
const TEXTS = [
  '',
  ' ',
  'x',
  '-1',
  '0',
  '0.5',
  '1e9',
  '99999',
  'NaN',
  'null',
  'true',
  '\0',
  '\ud800',
  'é'.repeat(3_000),
];
const VALUES = [
  ...TEXTS,
  null,
  true,
  0,
  -1,
  1.5,
  NaN,
  Infinity,
  1e300,
  [],
  [''],
  [null],
  [1],
  ['x', ['y']],
  Array(1_000).fill('x'),
  {},
  { a: 'b' },
];

const folder = new URL('../../../../../schemas/api/', import.meta.url);
const schemas = (
  await Promise.all(
    readdirSync(folder)
      .filter((file) => file.endsWith('.ts'))
      .map(async (file) => Object.entries((await import(new URL(file, folder).href)) as Record<string, unknown>)),
  )
)
  .flat()
  .filter((entry): entry is [string, z.ZodObject] => /(Query|Body)$/.test(entry[0]) && entry[1] instanceof z.ZodObject);

function messageOf(schema: z.ZodType, value: unknown): string | undefined {
  try {
    parseRequest(schema, value, 'body');
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}

test('finds the schemas of all queries and bodies', () => {
  expect(schemas.length).toBeGreaterThan(20);
});

test.each(schemas)(
  '%s: bad input to each parameter is refused in plain words that begin with its name',
  (_, schema) => {
    let refused = 0;
    for (const [field, parameter] of Object.entries(schema.shape)) {
      const alone = z.strictObject({ [field]: parameter as z.ZodType });
      for (const value of VALUES) {
        const message = messageOf(alone, { [field]: value });
        if (message === undefined) continue;
        refused++;
        expect(message).not.toMatch(RAW);
        expect(message.split('; ').every((fault) => fault.startsWith(field) || fault.startsWith('and '))).toBe(true);
      }
      expect(messageOf(schema, { [field]: Number.NaN, [`${field}x`]: 1 })).not.toMatch(RAW);
    }
    for (const value of VALUES) expect(messageOf(schema, value) ?? '').not.toMatch(RAW);
    expect(refused).toBeGreaterThan(0);
  },
);

const WITHOUT_WORDS: [z.ZodType, unknown, string][] = [
  [z.number(), NaN, 'must be a number'],
  [z.int(), 1.5, 'must be a whole number'],
  [z.number().min(3), 1, 'must be at least 3'],
  [z.number().max(3), 4, 'must be at most 3'],
  [z.string().min(1), '', 'must have at least 1 character'],
  [z.string().max(2), 'abc', 'must have at most 2 characters'],
  [z.array(z.string()).min(2), [], 'must have at least 2 entries'],
  [z.array(z.string()).max(1), ['a', 'b'], 'must have at most 1 entry'],
  [z.number().multipleOf(5), 3, 'must be a multiple of 5'],
  [z.email(), 'x', 'is not in the accepted form'],
  [z.string().regex(/^a$/), 'x', 'is not in the accepted form'],
  [z.string().refine(() => false), 'x', 'is not in the accepted form'],
  [z.union([z.string(), z.number()]), true, 'is not in the accepted form'],
  [z.record(z.string(), z.string()), 1, 'must be a JSON object'],
  [z.string().min(1, 'must not be empty'), '', 'must not be empty'],
];

test.each(WITHOUT_WORDS)('a schema without words of its own: %#', (schema, value, message) => {
  const { error } = schema.safeParse(value, { error: validationMessage });
  expect(error?.issues.map((issue) => issue.message)).toEqual([message]);
});
