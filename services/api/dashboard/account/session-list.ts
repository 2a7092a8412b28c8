import type { StoredDashboardSession } from '../../../../shared/stores/dashboard/dashboard-sessions.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html } from '../../../../shared/html/html.ts';
import type { Visit } from '../page-route.ts';
import { postButton } from '../parts/post-button.ts';
import { ago, time } from '../parts/time.ts';
import { browserInWords } from '../sign-in/browser-in-words.ts';

/** The sessions of an account that are open, this one marked, each with a button that ends it. */
export function sessionList(visit: Visit, sessions: readonly StoredDashboardSession[], now: number): Html {
  return html`<ul class="items" aria-label="Browsers that are signed in">
      ${sessions.map((session) => sessionItem(visit, session, now))}
    </ul>
    ${
      sessions.length > 1 &&
      html`<p>${postButton(visit, { action: '/account/sessions/end-others', label: 'End all other sessions' })}</p>`
    }`;
}

function sessionItem(visit: Visit, session: StoredDashboardSession, now: number): Html {
  const isThis = session.id === visit.session.id;
  const browser = browserInWords(session.userAgent);
  return html`<li>
    <h3>${browser}${isThis && html` <span class="good">(this one)</span>`}</h3>
    <p class="note">
      Network ${session.network} · signed in ${time(session.createdAt)} · last seen ${ago(session.lastSeenAt, now)}
    </p>
    ${postButton(visit, {
      action: `/account/sessions/${session.id}/end`,
      label: isThis ? 'Sign out here' : html`End<span class="hidden"> the session of ${browser}</span>`,
    })}
  </li>`;
}
