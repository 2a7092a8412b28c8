import { html } from '../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../shared/html/html.ts';
import type { Visit } from '../page-route.ts';

interface PostButton {
  /** Below /dashboard. */
  action: string;
  label: HtmlValue;
  fields?: Readonly<Record<string, string>>;
  kind?: 'quiet' | 'danger';
}

/** A button that does something at once. */
export function postButton(visit: Visit, { action, label, fields = {}, kind = 'quiet' }: PostButton): Html {
  return html`<form method="post" action="${visit.path(action)}" class="inline">
    ${visit.csrfField}
    ${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <button class="${kind}">${label}</button>
  </form>`;
}

/** A button that cannot be pressed by accident: it is inside a disclosure that names the consequences. */
export function dangerousButton(
  visit: Visit,
  button: PostButton & { summary: HtmlValue; consequences: HtmlValue },
): Html {
  return html`<details class="danger">
    <summary>${button.summary}</summary>
    <p>${button.consequences}</p>
    ${postButton(visit, { ...button, kind: 'danger' })}
  </details>`;
}
