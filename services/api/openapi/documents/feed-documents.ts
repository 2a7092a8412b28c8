import { feedExamples as examples } from '../examples/feed-examples.ts';
import { monitorExamples } from '../examples/monitor-examples.ts';
import type { ContentDocument, RouteDocument } from '../route-document.ts';

const ID = { description: 'Id of a monitor.', example: monitorExamples.id };
const PATH = '/v1/monitors/:id/feed-token';

/** The routes that make and revoke the address of a feed, and the feeds. */
export const feedDocuments: readonly RouteDocument[] = [
  {
    method: 'post',
    path: PATH,
    operationId: 'createFeed',
    tag: 'Monitors',
    id: ID,
    summary: 'Make the addresses of a feed',
    description:
      "The monitor's matches for feed readers. Whoever has an address can read the newest matches of this one monitor, without a key, so keep it to yourself. It is shown only this once; another request makes new addresses, and the old ones stop working. They work until they are replaced or revoked, or the monitor is deleted. Free.",
    answers: [
      {
        status: 201,
        description: 'The addresses.',
        content: [{ schema: 'FeedAddresses', examples: { feed: examples.addresses } }],
      },
    ],
    errors: ['not_found'],
  },
  {
    method: 'delete',
    path: PATH,
    operationId: 'revokeFeed',
    tag: 'Monitors',
    id: ID,
    summary: 'Revoke the addresses of a feed',
    description: 'They are answered 404 from now on. Repeating the request is harmless.',
    answers: [
      {
        status: 200,
        description: 'The monitor has no feed.',
        content: [{ schema: 'FeedRevoked', examples: { revoked: { status: 'revoked' } } }],
      },
    ],
    errors: ['not_found'],
  },
  feedDocument('atom', 'in Atom', {
    type: 'application/atom+xml',
    schema: { type: 'string' },
    examples: { feed: examples.atom },
  }),
  feedDocument('json', 'as JSON Feed', {
    type: 'application/feed+json',
    schema: 'JsonFeed',
    examples: { feed: examples.json },
  }),
];

function feedDocument(ending: 'atom' | 'json', format: string, content: ContentDocument): RouteDocument {
  return {
    method: 'get',
    path: `/feeds/:token.${ending}`,
    operationId: `get${ending === 'atom' ? 'Atom' : 'Json'}Feed`,
    tag: 'Monitors',
    token: { description: 'From the addresses of the feed.', example: examples.token },
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
