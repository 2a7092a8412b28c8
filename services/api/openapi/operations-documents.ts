import type { RouteDocument } from './route-document.ts';

/** Documents the routes that need no key. */
export const operationsDocuments: readonly RouteDocument[] = [
  {
    method: 'get',
    path: '/healthz',
    operationId: 'getHealth',
    tag: 'Operations',
    summary: 'Check that the process is running',
    description: 'Queries nothing else.',
    answers: [
      {
        status: 200,
        description: 'The process is running.',
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
    summary: 'Check that the service is ready, and which parts answer',
    description:
      'Lists each part of the service by name, true when it answers. The status is 200 as long as reading, pages and webhooks work: without ClickHouse only comment search and the archive wait.',
    answers: [
      {
        status: 200,
        description: 'All required parts answer.',
        content: [
          { schema: 'Readiness', examples: { ready: { ready: true, parts: { postgres: true, kafka: true } } } },
        ],
      },
      {
        status: 503,
        description: 'Some required parts do not answer, or it could not be determined.',
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
    summary: 'Get this document',
    description: 'The API as an OpenAPI 3.1 document. `/docs` shows it to people.',
    answers: [
      {
        status: 200,
        description: 'The document.',
        content: [{ schema: { type: 'object' }, examples: { beginning: { openapi: '3.1.0' } } }],
        headers: [{ name: 'ETag' }],
      },
      {
        status: 304,
        description: 'The document is unchanged since the version in `If-None-Match`.',
        content: [],
        headers: [{ name: 'ETag' }],
      },
    ],
    errors: [],
    isPublic: true,
  },
];
