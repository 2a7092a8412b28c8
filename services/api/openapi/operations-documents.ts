import { health, readiness, serviceStatus } from '../../../schemas/api/status.ts';
import type { ServiceStatus } from '../../../schemas/api/status.ts';
import type { RouteDocument } from '../http/route.ts';

const statusExample: ServiceStatus = {
  status: 'ok',
  checked_at: '2026-03-04T10:00:00.000Z',
  parts: {
    services: { status: 'ok', message: 'All parts of the service answer.' },
    items: { status: 'ok', message: 'The newest item was seen 1.4 s ago.', newest_age_seconds: 1.4 },
    processing: {
      status: 'ok',
      message: 'Every stage is up to date.',
      waiting_records: { matcher: 12, recorder: 0, deliverer: 0 },
    },
    deliveries: { status: 'ok', message: 'No delivery is due.', due: 0, oldest_due_seconds: null },
    clocks: { status: 'ok', message: 'The clocks agree.', skew_seconds: 0.002 },
  },
};

const downExample: ServiceStatus = {
  ...statusExample,
  status: 'down',
  parts: {
    ...statusExample.parts,
    items: { status: 'down', message: 'The newest item was seen 612 s ago.', newest_age_seconds: 612 },
  },
};

/** Documents the routes that need no key. */
export const operationsDocuments: readonly RouteDocument[] = [
  {
    method: 'get',
    path: '/healthz',
    operationId: 'getHealth',
    tag: 'Operations',
    summary: 'Check that the process is running',
    description: 'Answers as long as the process runs, whatever state its parts are in.',
    answers: [
      {
        status: 200,
        description: 'The process is running.',
        content: [{ schema: health, examples: { alive: { status: 'ok' } } }],
      },
    ],
    errors: ['invalid_request'],
    isPublic: true,
  },
  {
    method: 'get',
    path: '/readyz',
    operationId: 'getReadiness',
    tag: 'Operations',
    summary: 'Check that the service is ready, and which parts answer',
    description:
      'Lists each part of the service by name, true when it answers. The status is 200 as long as reading, pages and webhooks work: without ClickHouse only comment search and the archive wait. A process of the API alone sends no webhooks, and is ready without Kafka.',
    answers: [
      {
        status: 200,
        description: 'All required parts answer.',
        content: [{ schema: readiness, examples: { ready: { ready: true, parts: { postgres: true, kafka: true } } } }],
      },
      {
        status: 503,
        description: 'Some required parts do not answer, or it could not be determined.',
        content: [
          { schema: readiness, examples: { waiting: { ready: false, parts: { postgres: true, kafka: false } } } },
        ],
      },
    ],
    errors: ['invalid_request'],
    isPublic: true,
  },
  {
    method: 'get',
    path: '/status',
    operationId: 'getStatus',
    tag: 'Operations',
    summary: 'Check that the pipeline is up to date',
    description:
      'For status pages: the age of the newest item, the records that wait for each stage, the webhook deliveries that are due, and how much the clocks differ, measured at most every 5 s. A part that does not answer in time is `unknown`. The service is `down` when a part is, and `degraded` when one is not `ok`.',
    answers: [
      {
        status: 200,
        description: 'No part is down.',
        content: [{ schema: serviceStatus, examples: { ok: statusExample } }],
      },
      {
        status: 503,
        description: 'A part is down.',
        content: [{ schema: serviceStatus, examples: { down: downExample } }],
      },
    ],
    errors: ['invalid_request'],
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
        content: [
          { schema: { type: 'object', additionalProperties: true }, examples: { beginning: { openapi: '3.1.0' } } },
        ],
        headers: [{ name: 'ETag' }],
      },
      {
        status: 304,
        description: 'The document is unchanged since the version in `If-None-Match`.',
        content: [],
        headers: [{ name: 'ETag' }],
      },
    ],
    errors: ['invalid_request'],
    isPublic: true,
  },
];
