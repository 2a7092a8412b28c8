import { coverageQuery } from '../../../schemas/api/coverage.ts';
import { coverageExample } from './coverage-examples.ts';
import type { RouteDocument } from './route-document.ts';

/** Documents what the service says of its own coverage. */
export const coverageDocuments: readonly RouteDocument[] = [
  {
    method: 'get',
    path: '/v1/coverage',
    operationId: 'getCoverage',
    tag: 'Coverage',
    summary: 'Show what was seen of the forum, and what was missed',
    description:
      'Free, for every key. Whole hours of UTC, each and in total; the current hour is updated every few seconds. Items, lags and late items count in the hour in which they were first seen, completeness in the hour in which things were created. Gaps are stretches that a source may have missed: the newest 200 that were open at some time of the range, newest first.',
    query: coverageQuery,
    example: { from: '2026-03-04T10:00:00Z', to: '2026-03-04T11:00:00Z' },
    answers: [
      {
        status: 200,
        description: 'The coverage of the range.',
        content: [{ schema: 'Coverage', examples: { hour: coverageExample } }],
      },
    ],
    errors: ['invalid_request'],
  },
];
