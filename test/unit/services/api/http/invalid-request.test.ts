import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ApiError } from '../../../../../services/api/http/api-error.ts';
import { invalidRequest, parseRequest } from '../../../../../services/api/http/invalid-request.ts';

const faults = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ field: `f${index}`, message: 'is wrong' }));

describe('invalidRequest', () => {
  test('names the field of each fault first', () => {
    expect(invalidRequest(faults(2))).toMatchObject({
      status: 400,
      code: 'invalid_request',
      message: 'f0: is wrong; f1: is wrong',
    });
  });
});

describe('parseRequest', () => {
  const schema = z.strictObject({
    words: z.array(z.string()).optional(),
    filter: z.strictObject({ nsfw: z.boolean() }).optional(),
    order: z.enum(['oldest', 'newest']).optional(),
    name: z.string(),
  });
  const messageFor = (value: unknown): string => {
    try {
      parseRequest(schema, value, 'body');
    } catch (error) {
      if (error instanceof ApiError) return error.message;
    }
    throw new Error('no ApiError');
  };

  test.each([
    [{}, 'name: is required'],
    [{ name: ['a', 'b'] }, 'name: must be a single string'],
    [{ name: 'a', words: 'b' }, 'words: must be a list'],
    [{ name: 'a', words: ['b', 'c', 3] }, 'words[2]: must be a single string'],
    [{ name: 'a', filter: 1 }, 'filter: must be a JSON object'],
    [{ name: 'a', filter: { nsfw: 'yes' } }, 'filter.nsfw: must be true or false'],
    [{ name: 'a', order: 'random' }, 'order: must be oldest or newest'],
    [{ name: 'a', more: 1, other: 2 }, 'more: is not known here; other: is not known here'],
    ['text', 'body: must be a JSON object'],
    [undefined, 'body: is required'],
  ])('%j: %s', (value, message) => {
    expect(messageFor(value)).toBe(message);
  });

  test.each([
    [{ url: 'https://forum.example/r/a/comments/1?x=1', utm_source: 'share' }, true],
    [{ url: 'https://forum.example/r/a/comments/1', utm_source: 'share' }, false],
    [{ url: 't3_1', utm_source: 'share' }, false],
  ])('says to percent-encode a URL whose own parameters arrive as others: %j', (value, isCut) => {
    const query = z.strictObject({ url: z.string() });
    const hint = isCut ? '; if it is a part of the URL that you send, percent-encode the URL' : '';
    expect(() => parseRequest(query, value, 'query')).toThrow(`utm_source: is not known here${hint}`);
  });
});
