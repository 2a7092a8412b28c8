import type { Monitor } from '../../../../../schemas/api/monitor.ts';
import { itemEvent } from '../../../live-tail/live-tail.ts';
import { openLiveTail } from '../../../live-tail/live-tail-route.ts';
import type { DashboardDeps } from '../../dashboard-deps.ts';
import type { PageAnswer, PageRoute, Visit } from '../../page-route.ts';
import { entryId, matchEntry } from './match-entry.ts';
import { matchHighlighter } from './match-highlights.ts';
import { ruleOfMonitor } from '../monitor-rule.ts';

type Deps = Pick<DashboardDeps, 'callApi' | 'pool' | 'liveTails'>;

/** A monitor's matches for its page, as they are recorded: the markup of an entry each. */
export function streamPages(deps: Deps): PageRoute[] {
  return [{ method: 'get', path: '/monitors/:id/stream', handle: (visit) => stream(deps, visit) }];
}

async function stream({ callApi, pool, liveTails }: Deps, visit: Visit): Promise<PageAnswer> {
  const id = visit.params.id ?? '';
  const { body } = await callApi(visit, 'get', '/v1/monitors/:id', { id });
  const highlightsOf = matchHighlighter(ruleOfMonitor((body as { monitor: Monitor }).monitor));
  const after = visit.query.text('after');
  return openLiveTail(
    { caller: visit.caller, id, query: after === '' ? {} : { after }, lastEventId: visit.lastEventId },
    {
      pool,
      liveTails,
      holder: { kind: 'session', id: visit.session.id },
      eventOf(match) {
        return itemEvent(match.id, {
          id: entryId(match),
          markup: String(matchEntry(visit, match, highlightsOf(match))),
        });
      },
    },
  );
}
