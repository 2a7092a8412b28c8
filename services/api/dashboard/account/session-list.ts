import type { StoredDashboardSession } from '../../../../shared/stores/dashboard/dashboard-sessions.ts';
import { html } from '../../pages/html.ts';
import type { Html } from '../../pages/html.ts';
import type { Visit } from '../page-route.ts';
import { postButton } from '../parts/post-button.ts';
import { ago, time } from '../parts/time.ts';
import { browserInWords } from '../sign-in/browser-in-words.ts';

/** The sessions of an account that are open, this one marked, each with a button that ends it. */
export function sessionList(visit: Visit, sessions: readonly StoredDashboardSession[], now: number): Html {
  return html`<div class="scroll" role="region" aria-label="Sessions" tabindex="0">
      <table>
        <caption>
          Browsers that are signed in
        </caption>
        <thead>
          <tr>
            <th scope="col">Browser</th>
            <th scope="col">Network</th>
            <th scope="col">Signed in</th>
            <th scope="col">Last seen</th>
            <th scope="col"><span class="hidden">Actions</span></th>
          </tr>
        </thead>
        <tbody>
          ${sessions.map((session) => sessionRow(visit, session, now))}
        </tbody>
      </table>
    </div>
    ${
      sessions.length > 1 &&
      postButton(visit, { action: '/account/sessions/end-others', label: 'End all other sessions' })
    }`;
}

function sessionRow(visit: Visit, session: StoredDashboardSession, now: number): Html {
  const isThis = session.id === visit.session.id;
  const browser = browserInWords(session.userAgent);
  return html`<tr>
    <th scope="row">${browser}${isThis && html` <strong class="good">(this one)</strong>`}</th>
    <td>${session.network}</td>
    <td>${time(session.createdAt)}</td>
    <td>${ago(session.lastSeenAt, now)}</td>
    <td>
      ${postButton(visit, {
        action: `/account/sessions/${session.id}/end`,
        label: isThis ? 'Sign out here' : html`End<span class="hidden"> the session of ${browser}</span>`,
      })}
    </td>
  </tr>`;
}
