import type { Monitor } from '../../../../schemas/api/monitor.ts';
import { MONITOR_PERIOD_CREDITS } from '../../../../shared/domain/accounts/credits.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html } from '../../../../shared/html/html.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import type { PageAnswer, PageRoute, Visit } from '../page-route.ts';
import { dangerousButton, postButton } from '../parts/post-button.ts';

type Deps = Pick<DashboardDeps, 'callApi'>;

/** Pausing, resuming and deleting a monitor. */
export function actionPages({ callApi }: Deps): PageRoute[] {
  const idOf = ({ params }: Visit) => params.id ?? '';
  const act = async (visit: Visit, method: 'post' | 'delete', below: string, to: string): Promise<PageAnswer> => {
    await callApi(visit, method, `/v1/monitors/:id${below}`, { id: idOf(visit) });
    return { redirect: to };
  };
  return [
    {
      method: 'post',
      path: '/monitors/:id/pause',
      handle: (visit) => act(visit, 'post', '/pause', `/monitors/${idOf(visit)}?done=paused`),
    },
    {
      method: 'post',
      path: '/monitors/:id/resume',
      handle: (visit) => act(visit, 'post', '/resume', `/monitors/${idOf(visit)}?done=resumed`),
    },
    {
      method: 'post',
      path: '/monitors/:id/delete',
      handle: (visit) => act(visit, 'delete', '', '/monitors?done=deleted'),
    },
  ];
}

/** The button that pauses or resumes a monitor; what resuming costs is on it. */
export function runButtons(visit: Visit, { id, name, status }: Monitor): Html {
  const of = html`<span class="hidden"> ${name}</span>`;
  return status === 'active'
    ? postButton(visit, { action: `/monitors/${id}/pause`, label: html`Pause${of}` })
    : postButton(visit, {
        action: `/monitors/${id}/resume`,
        label: html`Resume${of} for ${MONITOR_PERIOD_CREDITS} credits`,
      });
}

export function deleteButton(visit: Visit, { id, name }: Monitor): Html {
  return dangerousButton(visit, {
    action: `/monitors/${id}/delete`,
    label: `Delete “${name}” for good`,
    summary: 'Delete this monitor',
    consequences:
      'It stops at once and cannot be brought back. Its matches are no longer shown. The current day is not refunded; pausing stops charges too.',
  });
}
