import type { DashboardDeps } from '../dashboard-deps.ts';
import type { PageRoute } from '../page-route.ts';
import { backfillPages } from './matches/backfill-page.ts';
import { deliveryPages } from './deliveries-page.ts';
import { editPages } from './edit-pages.ts';
import { explanationPages } from './matches/explanation-page.ts';
import { exportPages } from './export-page.ts';
import { listPages } from './list-page.ts';
import { streamPages } from './matches/match-stream.ts';
import { actionPages } from './monitor-actions.ts';
import { monitorPages } from './monitor-page.ts';
import { mutePages } from './mutes-page.ts';
import { trendPages } from './trends-page.ts';
import { webhookPages } from './webhook-page.ts';

/** The pages about monitors. Those with a name come before `/monitors/:id`. */
export function allMonitorPages(deps: DashboardDeps): PageRoute[] {
  return [
    ...listPages(deps),
    ...editPages(deps),
    ...monitorPages(deps),
    ...streamPages(deps),
    ...explanationPages(deps),
    ...deliveryPages(deps),
    ...webhookPages(deps),
    ...mutePages(deps),
    ...exportPages(deps),
    ...backfillPages(deps),
    ...trendPages(deps),
    ...actionPages(deps),
  ];
}
