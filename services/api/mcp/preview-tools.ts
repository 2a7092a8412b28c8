import { previewAnswer, previewBody } from '../../../schemas/api/monitors/preview.ts';
import type { Route } from '../http/route.ts';
import { previewText } from './preview-texts.ts';
import { inputSchemaOf, outputSchemaOf, routeTool } from './tool.ts';
import type { Tool } from './tool.ts';

/** @param routeAt returns the API's route with a method and a path */
export function previewTools(routeAt: (method: Route['method'], path: string) => Route): Tool[] {
  return [
    routeTool({
      name: 'preview_monitor',
      title: 'See what a monitor would have found',
      description:
        'Counts the exact matches of a rule over the last days before it is stored, with the newest ones, what it costs, warnings and suggestions for the rule. Use it before create_monitor. Stores nothing. Free, at most ten a minute.',
      annotations: { readOnlyHint: true, openWorldHint: false },
      inputSchema: inputSchemaOf(previewBody),
      outputSchema: outputSchemaOf(previewAnswer),
      route: routeAt('post', '/v1/monitors/preview'),
      toText: previewText,
    }),
  ];
}
