import { monitorExamples } from '../examples/monitor-examples.ts';
import { previewExamples as examples } from '../examples/preview-examples.ts';
import type { RouteDocument } from '../route-document.ts';

const LIMITS =
  'Free; ten a minute, 500 in 24 hours and one at a time for an account, otherwise `rate_limited`, and two at once in a process, otherwise `service_unavailable`, both with `Retry-After`. Stores nothing.';

/** The routes that say what a rule would have found. */
export const previewDocuments: readonly RouteDocument[] = [
  {
    method: 'post',
    path: '/v1/monitors/preview',
    operationId: 'previewMonitor',
    tag: 'Monitors',
    summary: 'See what a monitor would have found',
    description: `The exact matches of a rule that is not stored, over the last days of the archive: counts, the newest 20 with the places of their terms, the days on which the plan's daily cap would have been exceeded, what 30 days cost, warnings and suggestions. The function that matches live decides here too. The archive is read newest first for at most 10 s: \`exact_from\` says how far back everything was counted. With \`Accept: text/event-stream\` it is read for a minute; \`event: progress\` comes after each part and \`event: result\` at last, or \`event: error\` with the error. ${LIMITS}`,
    body: { schema: 'PreviewRequest', examples: { rust: examples.body } },
    answers: [
      {
        status: 200,
        description: 'What it would have found.',
        content: [
          { schema: 'Preview', examples: { rust: examples.answer } },
          { type: 'text/event-stream', schema: { type: 'string' }, examples: { rust: examples.stream } },
        ],
      },
    ],
    errors: ['invalid_request', 'payload_too_large', 'unsupported_media_type', 'service_unavailable'],
  },
  {
    method: 'post',
    path: '/v1/monitors/:id/diff',
    operationId: 'diffMonitor',
    tag: 'Monitors',
    id: { description: 'Id of a monitor.', example: monitorExamples.id },
    summary: 'See what a change of a monitor would gain and lose',
    description: `Compares the monitor's rule with the rule that the change would make, over the last days of the archive, in one pass. What the monitor has muted is neither gained nor lost. Read as for a preview: \`exact_from\` says how far back everything was compared. ${LIMITS}`,
    body: { schema: 'DiffRequest', examples: { exclude: examples.diffBody } },
    answers: [
      {
        status: 200,
        description: 'The differences.',
        content: [{ schema: 'MonitorDiff', examples: { exclude: examples.diff } }],
      },
    ],
    errors: ['invalid_request', 'not_found', 'payload_too_large', 'unsupported_media_type', 'service_unavailable'],
  },
];
