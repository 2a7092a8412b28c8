import type { AccountGrantResource } from '../../../../schemas/api/account.ts';
import { SCOPES } from '../../oauth/oauth-metadata.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html } from '../../../../shared/html/html.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import type { PageAnswer, PageRoute, ShownPage, Visit } from '../page-route.ts';
import { doneNotice } from '../parts/done-notice.ts';
import { dangerousButton } from '../parts/post-button.ts';
import { ago, time } from '../parts/time.ts';

const DONE = new Map([['disconnected', 'The program was disconnected. It can no longer use your account.']]);

/** The page of programs that may use the account through the tool server (OAuth grants). */
export function programsPages(deps: DashboardDeps): PageRoute[] {
  return [
    { method: 'get', path: '/programs', handle: (visit) => listPage(deps, visit) },
    { method: 'post', path: '/programs/:id/revoke', handle: (visit) => revoke(deps, visit) },
  ];
}

async function listPage(deps: DashboardDeps, visit: Visit): Promise<ShownPage> {
  const { body } = await deps.callApi(visit, 'get', '/v1/account/grants');
  const { items } = body as { items: AccountGrantResource[] };
  return {
    title: 'Connected programs',
    content: html`${doneNotice(visit, DONE)}
      <p>
        Programs that you signed in to use your account, such as assistants that read the forum for you. They connect to
        <code>${deps.baseUrl}/mcp</code>.
      </p>
      ${items.length === 0 ? html`<p>No program is connected.</p>` : programList(deps, visit, items)}`,
  };
}

function programList({ clock }: DashboardDeps, visit: Visit, grants: readonly AccountGrantResource[]): Html {
  return html`<h2>Programs that may use your account</h2>
    <ul class="items">
      ${grants.map((grant) => programItem(visit, grant, clock()))}
    </ul>`;
}

function programItem(visit: Visit, grant: AccountGrantResource, now: number): Html {
  const name = grant.client_name ?? 'A program without a name';
  return html`<li>
    <h3>${name}</h3>
    <p class="note">
      ${originOf(grant)} · connected ${time(grant.granted_at)} ·
      ${grant.last_used_at === null ? 'never used' : html`last used ${ago(grant.last_used_at, now)}`}
    </p>
    <p>It may:</p>
    <ul>
      ${grant.scopes.map((scope) => html`<li>${SCOPES.get(scope) ?? scope}</li>`)}
    </ul>
    ${dangerousButton(visit, {
      action: `/programs/${grant.id}/revoke`,
      label: html`Disconnect<span class="hidden"> ${name}</span> now`,
      summary: html`Disconnect<span class="hidden"> ${name}</span>`,
      consequences: 'The program is refused at once. It can ask you again to sign in.',
    })}
  </li>`;
}

/** A program that is described by a document belongs to the document's host; others registered without proof. */
function originOf({ client_id: clientId }: AccountGrantResource): string {
  const host = /^https?:/i.test(clientId) ? URL.parse(clientId)?.host : undefined;
  return host === undefined ? 'Registered itself; the name is what it says' : `Of ${host}`;
}

async function revoke(deps: DashboardDeps, visit: Visit): Promise<PageAnswer> {
  await deps.callApi(visit, 'delete', '/v1/account/grants/:id', { id: visit.params.id ?? '' });
  return { redirect: '/programs?done=disconnected' };
}
