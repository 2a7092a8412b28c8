import type { MonitorMute } from '../../../../schemas/api/monitors/monitor-mutes.ts';
import type { Monitor } from '../../../../schemas/api/monitor.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html } from '../../../../shared/html/html.ts';
import { problemsOf } from '../call-api.ts';
import type { FieldProblems } from '../call-api.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import type { PageAnswer, PageRoute, ShownPage, Visit } from '../page-route.ts';
import { doneNotice } from '../parts/done-notice.ts';
import { field, select } from '../parts/field.ts';
import { postButton } from '../parts/post-button.ts';
import { time } from '../parts/time.ts';
import { monitorNavigation } from './monitor-navigation.ts';

type Deps = Pick<DashboardDeps, 'callApi'>;

/** What a monitor records nothing of. */
export function mutePages(deps: Deps): PageRoute[] {
  return [
    { method: 'get', path: '/monitors/:id/mutes', handle: (visit) => show(deps, visit, new Map()) },
    { method: 'post', path: '/monitors/:id/mutes', handle: (visit) => add(deps, visit) },
    { method: 'post', path: '/monitors/:id/mutes/:mute/delete', handle: (visit) => remove(deps, visit) },
  ];
}

const KINDS: Readonly<Record<MonitorMute['kind'], string>> = {
  subreddit: 'Community',
  author: 'Account',
  thread: 'Thread',
};
const PREFIXES: Readonly<Record<MonitorMute['kind'], string>> = { subreddit: 'r/', author: 'u/', thread: '' };

async function show({ callApi }: Deps, visit: Visit, problems: FieldProblems): Promise<ShownPage> {
  const id = visit.params.id ?? '';
  const [shown, listed] = await Promise.all([
    callApi(visit, 'get', '/v1/monitors/:id', { id }),
    callApi(visit, 'get', '/v1/monitors/:id/mutes', { id }),
  ]);
  const { items, limit } = listed.body as { items: MonitorMute[]; limit: number };
  return {
    title: `Mutes of “${(shown.body as { monitor: Monitor }).monitor.name}”`,
    status: problems.size > 0 ? 400 : 200,
    content: html`${monitorNavigation(visit, id, '/mutes')} ${doneNotice(visit, DONE)}
      <p>Nothing of these is recorded from the moment on at which they are muted. ${items.length} of ${limit}.</p>
      ${items.length > 0 && table(visit, id, items)} ${addForm(visit, id, problems)}`,
  };
}

const DONE: ReadonlyMap<string, string> = new Map([
  ['muted', 'Muted.'],
  ['removed', 'The mute is removed.'],
]);

function table(visit: Visit, id: string, items: readonly MonitorMute[]): Html {
  const rows = items.map(
    ({ id: mute, kind, value, created_at: at }) =>
      html`<tr>
        <th scope="row">${KINDS[kind]} ${PREFIXES[kind]}${value}</th>
        <td>${time(at)}</td>
        <td>
          ${postButton(visit, {
            action: `/monitors/${id}/mutes/${mute}/delete`,
            label: html`Remove<span class="hidden"> ${value}</span>`,
          })}
        </td>
      </tr>`,
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Mutes">
    <table>
      <caption class="hidden">
        Mutes, the oldest first
      </caption>
      <thead>
        <tr>
          <th scope="col">Muted</th>
          <th scope="col">Since</th>
          <th scope="col">Actions</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

function addForm(visit: Visit, id: string, problems: FieldProblems): Html {
  const { form } = visit;
  const of = (name: string) => {
    const problem = problems.get(name);
    return { name, value: form.text(name), ...(problem !== undefined && { problem }) };
  };
  return html`<h2>Mute something</h2>
    <form method="post" action="${visit.path(`/monitors/${id}/mutes`)}" class="narrow">
      ${visit.csrfField} ${problems.has('') && html`<p class="notice bad" role="alert">${problems.get('')}</p>`}
      ${select({ ...of('kind'), label: 'What', options: Object.entries(KINDS) })}
      ${field({ ...of('value'), label: 'Name, or the address of a post', required: true })}
      <div class="actions"><button>Mute</button></div>
    </form>`;
}

async function add({ callApi }: Deps, visit: Visit): Promise<PageAnswer> {
  const id = visit.params.id ?? '';
  try {
    const body = { kind: visit.form.text('kind'), value: visit.form.text('value') };
    await callApi(visit, 'post', '/v1/monitors/:id/mutes', { id, body });
    return { redirect: `/monitors/${id}/mutes?done=muted` };
  } catch (error) {
    return show({ callApi }, visit, problemsOf(error));
  }
}

async function remove({ callApi }: Deps, visit: Visit): Promise<PageAnswer> {
  const { id = '', mute: partId = '' } = visit.params;
  await callApi(visit, 'delete', '/v1/monitors/:id/mutes/:mute_id', { id, partId });
  return { redirect: `/monitors/${id}/mutes?done=removed` };
}
