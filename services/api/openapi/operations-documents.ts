import type { RouteDocument } from './route-document.ts';

/** The routes that need no key. */
export const operationsDocuments: readonly RouteDocument[] = [
  {
    method: 'get',
    path: '/healthz',
    operationId: 'getHealth',
    tag: 'Operations',
    summary: 'Whether the process is alive',
    description: 'Asks nothing else.',
    answers: [
      {
        status: 200,
        description: 'It is.',
        content: [{ schema: 'Health', examples: { alive: { status: 'ok' } } }],
      },
    ],
    errors: [],
    isPublic: true,
  },
  {
    method: 'get',
    path: '/readyz',
    operationId: 'getReadiness',
    tag: 'Operations',
    summary: 'Whether the service works, and which parts answer',
    description:
      'Each part of the service by name: true when it answers. 200 as long as reading, pages and webhooks work: without ClickHouse only comment search and the archive wait.',
    answers: [
      {
        status: 200,
        description: 'All parts that are needed answer.',
        content: [
          { schema: 'Readiness', examples: { ready: { ready: true, parts: { postgres: true, kafka: true } } } },
        ],
      },
      {
        status: 503,
        description: 'Some do not, or it could not be found out.',
        content: [
          { schema: 'Readiness', examples: { waiting: { ready: false, parts: { postgres: true, kafka: false } } } },
        ],
      },
    ],
    errors: [],
    isPublic: true,
  },
  {
    method: 'get',
    path: '/openapi.json',
    operationId: 'getOpenApi',
    tag: 'Operations',
    summary: 'This description',
    description: 'The API as an OpenAPI 3.1 document. `/docs` shows it to people.',
    answers: [
      {
        status: 200,
        description: 'The document.',
        content: [{ schema: { type: 'object' }, examples: { beginning: { openapi: '3.1.0' } } }],
        headers: [{ name: 'ETag' }],
      },
      { status: 304, description: 'It is as `If-None-Match` says.', content: [], headers: [{ name: 'ETag' }] },
    ],
    errors: [],
    isPublic: true,
  },
];
