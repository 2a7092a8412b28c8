import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { post, postResponse } from '../../../../../schemas/messages/forum-post.ts';
import { jsonSchemasOf, queryParametersOf } from '../../../../../services/api/openapi/json-schemas.ts';

describe('jsonSchemasOf', () => {
  const inner = z.strictObject({ seconds: z.number().int() });
  const outer = z.strictObject({ inner, at: z.iso.datetime(), name: z.string().default('x') });

  test('makes a nested named schema a reference', () => {
    const { Outer, Inner } = jsonSchemasOf({ Outer: outer, Inner: inner }, 'output');
    expect(Outer).toMatchObject({ properties: { inner: { $ref: '#/components/schemas/Inner' } } });
    expect(Inner).toEqual({
      type: 'object',
      properties: { seconds: { type: 'integer' } },
      required: ['seconds'],
      additionalProperties: false,
    });
  });

  test('describes a time by its format, without a pattern', () => {
    const { Outer } = jsonSchemasOf({ Outer: outer, Inner: inner }, 'output');
    expect((Outer as { properties: object }).properties).toMatchObject({ at: { type: 'string', format: 'date-time' } });
    expect(JSON.stringify(Outer)).not.toContain('pattern');
  });

  test('requires a field with a default only in answers', () => {
    expect(jsonSchemasOf({ Outer: outer, Inner: inner }, 'output').Outer!.required).toContain('name');
    expect(jsonSchemasOf({ Outer: outer, Inner: inner }, 'input').Outer!.required).not.toContain('name');
  });

  test('refuses a schema that has an id but is not a component', () => {
    expect(() => jsonSchemasOf({ PostResponse: postResponse, Post: post }, 'output')).toThrow(/Comment|PostMeta|Graph/);
  });
});

test('queryParametersOf describes the parsed values and requires only what the text must have', () => {
  const query = z.strictObject({
    ids: z
      .string()
      .transform((text) => text.split(','))
      .pipe(z.array(z.string()).max(2)),
    count: z.string().transform(Number).pipe(z.number().max(9)).default(3).describe('How many.'),
  });
  expect(queryParametersOf(query, { count: 5 })).toEqual([
    {
      name: 'ids',
      in: 'query',
      required: true,
      style: 'form',
      explode: false,
      schema: { type: 'array', items: { type: 'string' }, maxItems: 2 },
    },
    {
      name: 'count',
      in: 'query',
      required: false,
      description: 'How many.',
      schema: { type: 'number', maximum: 9, default: 3 },
      example: 5,
    },
  ]);
});
