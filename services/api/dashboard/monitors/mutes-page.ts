import type { MonitorMute } from '../../../../schemas/api/monitors.ts';
import { html } from '../../../../shared/html/html.ts';
import { get, NO_PROBLEMS, post, problemsOf } from '../page.ts';
import type { PageAnswer, PageRoute, ShownPage, Visit } from '../page.ts';
import { field, otherProblems, postButton, select, table, time, typed } from '../parts.ts';
import { monitorPage, readMonitor } from './monitor-frame.ts';

/** What a monitor records nothing of. */
export const mutePages: PageRoute[] = [
  get('/monitors/:id/mutes', (visit) => show(visit)),
  post('/monitors/:id/mutes', add),
  post('/monitors/:id/mutes/:mute/delete', async (visit) => {
    await visit.call('delete', '/v1/monitors/:id/mutes/:mute_id', { partId: visit.params.mute ?? '' });
    return { redirect: `/monitors/${visit.id}/mutes?done=removed` };
  }),
];

const KINDS: Readonly<Record<MonitorMute['kind'], string>> = {
  subreddit: 'Community',
  author: 'Account',
  thread: 'Thread',
};
const PREFIXES: Readonly<Record<MonitorMute['kind'], string>> = { subreddit: 'r/', author: 'u/', thread: '' };

async function show(visit: Visit, problems = NO_PROBLEMS): Promise<ShownPage> {
  const [{ name }, list] = await Promise.all([readMonitor(visit), visit.read('/v1/monitors/:id/mutes')]);
  const { items, limit } = list as { items: MonitorMute[]; limit: number };
  const page = `/monitors/${visit.id}/mutes`;
  const rows = items.map(({ id, kind, value, created_at: at }) => [
    `${KINDS[kind]} ${PREFIXES[kind]}${value}`,
    time(at),
    postButton(visit, { action: `${page}/${id}/delete`, label: html`Remove<span class="hidden"> ${value}</span>` }),
  ]);
  return monitorPage(visit, '/mutes', {
    title: `Mutes of “${name}”`,
    problems,
    content: html`<p>
        Nothing of these is recorded from the moment on at which they are muted. ${items.length} of ${limit}.
      </p>
      ${items.length > 0 && table('Mutes, the oldest first', ['Muted', 'Since', 'Actions'], rows)}
      <h2>Mute something</h2>
      <form method="post" action="${visit.path(page)}" class="narrow">
        ${visit.csrfField} ${otherProblems(problems, ['kind', 'value'])}
        ${select({ ...typed(visit.form, problems, 'kind'), label: 'What', options: Object.entries(KINDS) })}
        ${field({
          ...typed(visit.form, problems, 'value'),
          label: 'Name, or the address of a post',
          required: true,
        })}
        <div class="actions"><button>Mute</button></div>
      </form>`,
  });
}

async function add(visit: Visit): Promise<PageAnswer> {
  try {
    const body = { kind: visit.form.text('kind'), value: visit.form.text('value') };
    await visit.call('post', '/v1/monitors/:id/mutes', { body });
    return { redirect: `/monitors/${visit.id}/mutes?done=muted` };
  } catch (error) {
    return show(visit, problemsOf(error));
  }
}
