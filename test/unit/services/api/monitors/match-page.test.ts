import { expect, test } from 'vitest';
import { matchPageQuery } from '../../../../../schemas/api/match-page-query.ts';
import { matchId } from '../../../../../shared/domain/identifiers.ts';
import { ApiError } from '../../../../../services/api/http/api-error.ts';
import { parseRequest } from '../../../../../services/api/http/invalid-request.ts';
import { matchPageRequest } from '../../../../../services/api/monitors/match-page.ts';

const MONITOR = 'mon_0123456789ab';
const SEVENTH = matchId(MONITOR, 7);
const FOREIGN = matchId('mon_zzzzzzzzzzzz', 7);

const read = (query: unknown) => matchPageRequest(MONITOR, parseRequest(matchPageQuery, query, 'query'));

test.each([
  [{}, { order: 'oldest', seq: undefined, limit: 100 }],
  [{ limit: '1' }, { limit: 1 }],
  [
    { limit: '200', order: 'newest' },
    { limit: 200, order: 'newest' },
  ],
  [{ after: SEVENTH }, { order: 'oldest', seq: 7 }],
  [
    { order: 'newest', before: SEVENTH },
    { order: 'newest', seq: 7 },
  ],
  [{ limit: '1' }, { filter: undefined }],
  [{ keyword: 'Rust', subreddit: '/r/Metals' }, { filter: { keyword: 'Rust', subreddit: 'Metals' } }],
  [
    { since: '2026-03-04T10:00:00+02:00', until: '2026-03-04T08:00:00.001Z' },
    { filter: { since: new Date('2026-03-04T08:00:00Z'), until: new Date('2026-03-04T08:00:00.001Z') } },
  ],
])('reads %j', (query, request) => {
  expect(read(query)).toMatchObject({ monitorId: MONITOR, ...request });
});

test.each([
  [{ limit: '0' }, 'limit: must be an integer from 1 to 200'],
  [{ limit: '201' }, 'limit: '],
  [{ limit: '-1' }, 'limit: '],
  [{ limit: '1.5' }, 'limit: '],
  [{ limit: '1e2' }, 'limit: '],
  [{ limit: '' }, 'limit: '],
  [{ limit: ['1', '2'] }, 'limit: must be a single string'],
  [{ order: 'OLDEST' }, 'order: must be oldest or newest'],
  [{ order: '' }, 'order: '],
  [{ order: ['oldest', 'newest'] }, 'order: '],
  [{ after: '' }, 'after: must not be empty'],
  [{ after: 'mat_1' }, 'after: must be the id of a match'],
  [{ after: FOREIGN }, 'after: must be the id of a match of this monitor'],
  [{ after: ['a', 'b'] }, 'after: must be a single string'],
  [{ before: SEVENTH }, 'before: cannot be used with order=oldest'],
  [{ order: 'newest', after: SEVENTH }, 'after: cannot be used with order=newest'],
  [{ order: 'newest', before: FOREIGN }, 'before: '],
  [{ since: 'yesterday' }, 'since: must be an ISO 8601 date and time with its offset'],
  [{ since: '2026-03-04' }, 'since: '],
  [{ until: '2026-03-04T10:00:00' }, 'until: '],
  [{ since: '2026-13-04T10:00:00Z' }, 'since: '],
  [{ since: '2026-03-04T10:00:00Z', until: '2026-03-04T09:59:59Z' }, 'since: must be before `until`'],
  [{ since: '2026-03-04T10:00:00Z', until: '2026-03-04T11:00:00+01:00' }, 'since: must be before `until`'],
  [{ since: ['2026-03-04T10:00:00Z', '2026-03-05T10:00:00Z'] }, 'since: '],
  [{ keyword: '' }, 'keyword: must not be empty'],
  [{ keyword: 'x'.repeat(201) }, 'keyword: is too long'],
  [{ keyword: ['rust', 'go'] }, 'keyword: must be a single string'],
  [{ subreddit: '' }, 'subreddit: must be the name of a community'],
  [{ subreddit: 'no spaces' }, 'subreddit: must be the name of a community'],
  [{ page: '2' }, 'page: is not known here'],
])('refuses %j: %s', (query, message) => {
  expect(() => read(query)).toThrow(ApiError);
  expect(() => read(query)).toThrow(message);
});
