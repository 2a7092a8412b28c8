import { explainQuery } from '../../../../schemas/api/monitors/explain.ts';
import { explainExamples as examples } from '../examples/explain-examples.ts';
import { monitorExamples } from '../examples/monitor-examples.ts';
import type { RouteDocument } from '../route-document.ts';

/** The routes that say why something matches or does not. */
export const explainDocuments: readonly RouteDocument[] = [
  {
    method: 'post',
    path: '/v1/monitors/explain',
    operationId: 'explainRule',
    tag: 'Monitors',
    summary: 'Explain why a text matches a rule or does not',
    description:
      'For each term of a rule that is not stored: whether it occurs in the pasted text, where, and by which rule; otherwise what is nearest to it and why that does not count. The same function decides as for live matching. Texts have at most 40,000 characters. Nothing is stored. Free.',
    body: { schema: 'ExplainRule', examples: { comment: examples.body } },
    answers: [
      {
        status: 200,
        description: 'The explanation. `history` is empty.',
        content: [{ schema: 'RuleExplanation', examples: { comment: examples.ofText } }],
      },
    ],
    errors: ['invalid_request', 'payload_too_large', 'unsupported_media_type'],
  },
  {
    method: 'get',
    path: '/v1/monitors/:id/explain',
    operationId: 'explainThing',
    tag: 'Monitors',
    id: { description: 'Id of a monitor.', example: monitorExamples.id },
    query: explainQuery,
    example: { thing: examples.thing },
    summary: 'Explain why a monitor matched a post or comment, or did not',
    description:
      "A post or comment of the last 30 days, by the monitor's rule of now and its mutes; `history` says when it was seen, which version of the rule judged it, and whether it was recorded or why not. A thing that is not in the archive is answered too: `item` and `matched` are null then. Free, 500 times in 24 hours.",
    answers: [
      {
        status: 200,
        description: 'The explanation.',
        content: [{ schema: 'ItemExplanation', examples: { paused: examples.ofThing, unknown: examples.unknown } }],
      },
    ],
    errors: ['invalid_request', 'not_found'],
  },
];
