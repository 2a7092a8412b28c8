import { jsonFeed } from '../../../schemas/api/matches.ts';
import type { Content, RouteDocument } from '../http/route.ts';
import { feedExamples as examples } from '../openapi/examples/feed-examples.ts';

/** The feeds, which need no key. */
export const feedDocuments: readonly RouteDocument[] = [
  feedDocument('atom', 'in Atom', {
    type: 'application/atom+xml',
    schema: { type: 'string' },
    examples: { feed: examples.atom },
  }),
  feedDocument('json', 'as JSON Feed', {
    type: 'application/feed+json',
    schema: jsonFeed,
    examples: { feed: examples.json },
  }),
];

function feedDocument(ending: 'atom' | 'json', format: string, content: Content): RouteDocument {
  return {
    method: 'get',
    path: `/feeds/:token.${ending}`,
    operationId: `get${ending === 'atom' ? 'Atom' : 'Json'}Feed`,
    tag: 'Monitors',
    params: { token: { description: 'From the addresses of the feed.', example: examples.token } },
    summary: `Read the feed of a monitor ${format}`,
    description:
      'The newest 50 of the last 1,000 matches, without suppressed ones; texts are cut after 4,000 characters, and those of removed things are left out. Send `If-None-Match` with the `ETag` of the last answer. At most 30 requests a minute for each monitor. Free; no key is needed.',
    answers: [
      {
        status: 200,
        description: 'The feed.',
        content: [content],
        headers: [{ name: 'ETag' }, { name: 'Last-Modified' }],
      },
      {
        status: 304,
        description: 'The feed is unchanged since the version in `If-None-Match`.',
        content: [],
        headers: [{ name: 'ETag' }, { name: 'Last-Modified' }],
      },
    ],
    errors: ['invalid_request', 'not_found', 'rate_limited', 'internal_error'],
    isPublic: true,
  };
}
