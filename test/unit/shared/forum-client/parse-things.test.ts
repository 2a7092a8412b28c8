import { describe, expect, test } from 'vitest';
import { parseListing } from '../../../../shared/forum-client/parse-things.ts';
import { UpstreamError } from '../../../../shared/forum-client/upstream-error.ts';
import { COMMENT, POST } from '../../../support/samples/forum-things.ts';

describe('a listing', () => {
  const listing = (children: unknown[], after: string | null = null) => ({
    kind: 'Listing',
    data: { after, before: null, dist: null, children, geo_filter: '' },
  });

  test('returns its things in order, tolerates new fields, and counts unknown kinds', () => {
    const parsed = parseListing(
      listing(
        [
          { kind: 't3', data: POST },
          { kind: 'more', data: { children: [] } },
          { kind: 't1', data: COMMENT },
        ],
        't1_x',
      ),
    );
    expect(parsed.things.map(({ kind }) => kind)).toEqual(['t3', 't1']);
    expect(parsed.unknownKinds).toEqual(new Map([['more', 1]]));
    expect(parsed.after).toBe('t1_x');
    expect(parsed.faults).toEqual([]);
  });

  test('takes a thing with more text than a record can hold for one of unknown shape', () => {
    const text = 'x'.repeat(250_000);
    const parsed = parseListing(
      listing([
        { kind: 't3', data: { ...POST, title: text, selftext: text } },
        { kind: 't3', data: { ...POST, selftext: text } },
      ]),
    );
    expect(parsed.things).toHaveLength(1);
    expect(parsed.faults.map(({ path }) => path)).toEqual(['data.children.0.data']);
    expect(parsed.faults[0]?.message).toContain('at most 400000');
  });

  test.each([
    ['an error object', { message: 'Forbidden', error: 403 }, 'kind'],
    ['children that are not an array', { kind: 'Listing', data: { children: {} } }, 'data.children'],
    ['nothing', null, ''],
  ])('rejects %s and names the path', (_, body, path) => {
    expect(() => parseListing(body)).toThrow(UpstreamError);
    expect(() => parseListing(body)).toThrow(`"${path}"`);
  });
});
