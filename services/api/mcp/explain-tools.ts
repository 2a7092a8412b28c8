import { explainBody, explainQuery, itemExplanation, ruleExplanation } from '../../../schemas/api/monitors/explain.ts';
import type { Route } from '../http/route.ts';
import { explanationText } from './explain-texts.ts';
import { inputOfQuery, inputSchemaOf, outputSchemaOf, routeTool } from './tool.ts';
import type { Tool } from './tool.ts';

const READS = { readOnlyHint: true, openWorldHint: false } as const;

/** @param routeAt returns the API's route with a method and a path */
export function explainTools(routeAt: (method: Route['method'], path: string) => Route): Tool[] {
  const asked = inputOfQuery(explainQuery);
  const id = { type: 'string', description: 'Id of a monitor, `mon_…`.' };
  return [
    routeTool({
      name: 'explain_match',
      title: 'Why a monitor matched something, or did not',
      description:
        "For a post or comment that was seen in the last 30 days: each term of the monitor's rule with its places or what is nearest to it, the filters, and what happened to it (which version of the rule judged it, whether it was recorded or why not). Free.",
      annotations: READS,
      inputSchema: { ...asked, properties: { id, ...(asked.properties as object) }, required: ['id', 'thing'] },
      outputSchema: outputSchemaOf(itemExplanation),
      route: routeAt('get', '/v1/monitors/:id/explain'),
      toText: explanationText,
    }),
    routeTool({
      name: 'explain_rule',
      title: 'Try a rule on a text',
      description:
        'Whether a rule that is not stored matches a text that you give, term by term, with what is nearest to terms that do not occur. Stores nothing. Free.',
      annotations: READS,
      inputSchema: inputSchemaOf(explainBody),
      outputSchema: outputSchemaOf(ruleExplanation),
      route: routeAt('post', '/v1/monitors/explain'),
      toText: explanationText,
    }),
  ];
}
