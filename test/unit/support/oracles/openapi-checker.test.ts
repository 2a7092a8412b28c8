import { describe, expect, test } from 'vitest';
import { buildOpenApiDocument } from '../../../../services/api/openapi/build-openapi.ts';
import { forumExamples } from '../../../../services/api/openapi/examples/forum-examples.ts';
import { accountExamples } from '../../../../services/api/openapi/examples/account-examples.ts';
import { checkResponse, UndocumentedError } from '../../../support/oracles/openapi-checker.ts';

const document = buildOpenApiDocument('https://api.example.com');

interface Given {
  method?: string;
  path?: string;
  status?: number;
  headers?: Record<string, string | undefined>;
  body?: unknown;
}

const HEADERS: Record<string, string | undefined> = {
  'content-type': 'application/json; charset=utf-8',
  'x-request-id': 'one',
  'x-credits-remaining': '9',
  'ratelimit-policy': '"burst";q=1;w=1',
  ratelimit: '"burst";r=0;t=1',
};
/** Where no key is asked for. */
const NOBODY = { 'x-credits-remaining': undefined, 'ratelimit-policy': undefined, ratelimit: undefined };
const READ = { ...HEADERS, 'x-credits-used': '1', 'x-cache-tier': 'MISS', age: '0' };
const refusal = (code: string, retryable = false) => ({ error: { code, message: 'No.', retryable } });

function check({ method = 'GET', path = '/v1/account', status = 200, headers, body }: Given): void {
  const given = Object.entries({ ...HEADERS, ...headers }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? accountExamples.account);
  checkResponse(document, method, path, status, new Headers(given), text);
}

describe('a reply as documented passes', () => {
  const cases: [string, Given][] = [
    ['an answer', {}],
    ['one to HEAD', { method: 'HEAD', body: '' }],
    ['a path in other letters, with a query and a slash at the end', { path: '/V1/Account/?x=1' }],
    ['an id in the path', { path: '/v1/monitors/a%2Fb', status: 404, body: refusal('not_found') }],
    ['a listing', { path: '/v1/forum/subreddit?sub=x', headers: READ, body: forumExamples.postListing }],
    [
      'Markdown',
      {
        path: '/v1/forum/post?id=x&format=md',
        headers: { ...READ, 'content-type': 'text/markdown', 'x-comments-returned': '2', 'x-has-more': 'false' },
        body: forumExamples.markdown,
      },
    ],
    [
      'another method',
      { method: 'PUT', status: 405, headers: { allow: 'GET, HEAD' }, body: refusal('method_not_allowed') },
    ],
    ['an unknown route', { path: '/v1/nothing', status: 404, body: 'whatever' }],
    ['another method where no key is needed', { path: '/healthz', method: 'POST', status: 404, body: 'whatever' }],
    [
      'an internal error before the key is known',
      { status: 500, headers: NOBODY, body: refusal('internal_error', true) },
    ],
    [
      'a document that was not changed',
      {
        path: '/openapi.json',
        status: 304,
        headers: { ...NOBODY, etag: '"x"', 'content-type': undefined },
        body: '',
      },
    ],
  ];
  test.each(cases)('%s', (_name, given) => check(given));
});

describe('a reply is refused that has', () => {
  const post = { ...forumExamples.postListing.items[0], id: undefined };
  const cases: [string, Given, RegExp][] = [
    ['an undocumented status', { status: 418 }, /GET \/v1\/account answered 418 .* status is not documented/],
    [
      'a status of another method',
      { status: 405, body: refusal('method_not_allowed') },
      /answered 405 .* not documented/,
    ],
    ['a success of a method that is not there', { method: 'PUT' }, /PUT \/v1\/account answered 200 .* not documented/],
    [
      'an undocumented field',
      { body: { ...accountExamples.account, colour: 'red' } },
      /answered 200.*additional.*colour/,
    ],
    [
      'an undocumented field deep inside',
      {
        path: '/v1/forum/post/duplicates',
        headers: READ,
        body: { ...forumExamples.duplicates, items: [{ ...forumExamples.duplicates.items[0], ups: 1 }] },
      },
      /\/items\/0 .*ups/,
    ],
    [
      'a field less',
      { path: '/v1/forum/subreddit', headers: READ, body: { ...forumExamples.postListing, items: [post] } },
      /\/items\/0 must have required property 'id'/,
    ],
    ['a field of another type', { body: { ...accountExamples.account, balance: '5' } }, /\/balance must be integer/],
    [
      'a time that is none',
      { body: { ...accountExamples.account, created_at: 'today' } },
      /\/created_at must match format/,
    ],
    ['no documented header', { headers: { 'x-request-id': undefined } }, /header x-request-id is missing/],
    ['no balance', { headers: { 'x-credits-remaining': undefined } }, /header x-credits-remaining is missing/],
    [
      'no cost',
      { path: '/v1/forum/user', headers: { 'x-cache-tier': 'MISS' }, body: forumExamples.user },
      /x-credits-used is missing/,
    ],
    [
      'a header that is not documented here',
      { headers: { 'x-credits-used': '1' } },
      /x-credits-used is not documented/,
    ],
    [
      'a header of another form',
      { headers: { 'x-credits-remaining': 'many' } },
      /x-credits-remaining: .* must be integer/,
    ],
    [
      'a tier of another route',
      { path: '/v1/forum/things', headers: { ...READ, 'x-cache-tier': 'L1_LISTING' }, body: forumExamples.things },
      /x-cache-tier: .*allowed values/,
    ],
    ['another type', { headers: { 'content-type': 'text/html' } }, /type "text\/html" is not documented/],
    ['no type', { headers: { 'content-type': undefined } }, /type "" is not documented/],
    [
      'a code that the route does not list',
      { path: '/v1/forum/things', status: 403, body: refusal('forum_refused') },
      /answered 403.* the code forum_refused is not documented/,
    ],
    [
      'a code that says the wrong thing about a retry',
      { path: '/v1/monitors/x', status: 404, body: refusal('not_found', true) },
      /retryable of not_found is true/,
    ],
    [
      'no time to wait in its body',
      { path: '/v1/forum/user', status: 503, headers: { 'retry-after': '5' }, body: refusal('upstream_error', true) },
      /retry_after/,
    ],
    [
      'a body where there is none',
      { path: '/openapi.json', status: 304, headers: { ...NOBODY, etag: '"x"' }, body: '{}' },
      /a body is not documented/,
    ],
  ];
  test.each(cases)('%s', (_name, given, message) => {
    expect(() => check(given)).toThrow(UndocumentedError);
    expect(() => check(given)).toThrow(message);
  });
});
