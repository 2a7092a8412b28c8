import { timeseries, timeseriesQuery } from '../../../schemas/api/trends.ts';
import type { Timeseries } from '../../../schemas/api/trends.ts';
import type { Route } from '../http/route.ts';
import { inlineText } from '../reading/comments/inline-text.ts';
import { inputOfQuery, outputSchemaOf, routeTool } from './tool.ts';
import type { Tool } from './tool.ts';

const READS = { readOnlyHint: true, openWorldHint: false } as const;
/** The structured answer has all of them. */
const LINES = 200;

/** @param routeAt returns the API's route with a method and a path */
export function trendTools(routeAt: (method: Route['method'], path: string) => Route): Tool[] {
  const asked = inputOfQuery(timeseriesQuery);
  const id = { type: 'string', description: 'Id of a monitor, `mon_…`.' };
  return [
    routeTool({
      name: 'get_monitor_timeseries',
      title: 'Matches of a monitor over time',
      description:
        'How many matches a monitor had by hour or day, keyword and community, within the last 30 days, and its spikes: hours far above the same hour of the days before. Ask with `by=total` for the fewest items. Free.',
      annotations: READS,
      inputSchema: { ...asked, properties: { id, ...(asked.properties as object) }, required: ['id'] },
      outputSchema: outputSchemaOf(timeseries),
      route: routeAt('get', '/v1/monitors/:id/timeseries'),
      toText: timeseriesText,
    }),
  ];
}

/** Spikes first, then the newest counts, one a line. */
function timeseriesText({ interval, from, to, items, truncated, spikes }: Timeseries): string {
  const shown = items.slice(-LINES);
  return [
    `By ${interval}, ${from} to ${to}.`,
    ...spikes.map(
      ({ at, count, median, score }) => `Spike at ${at}: ${count} matches, usually ${median} (score ${score}).`,
    ),
    ...(shown.length === 0 ? ['No matches.'] : []),
    ...(truncated || shown.length < items.length ? ['Older counts are left out.'] : []),
    ...shown.map(({ at, keyword, subreddit, count }) => {
      const of = [keyword === null ? '' : inlineText(keyword), subreddit === null ? '' : `r/${inlineText(subreddit)}`];
      return [`${at}: ${count}`, ...of.filter((part) => part !== '')].join(' · ');
    }),
  ].join('\n');
}
