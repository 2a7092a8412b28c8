import { html } from '../../../../shared/html/html.ts';
import type { Html } from '../../../../shared/html/html.ts';
import type { Visit } from '../page-route.ts';

const PAGES = [
  ['', 'Matches'],
  ['/edit', 'Rule'],
  ['/webhook', 'Webhook'],
  ['/deliveries', 'Deliveries'],
  ['/mutes', 'Mutes'],
  ['/export', 'Export'],
  ['/earlier', 'Earlier'],
  ['/trends', 'Trends'],
  ['/explain', 'Why?'],
] as const;

/** Links to the pages of one monitor. */
export function monitorNavigation(visit: Visit, id: string, current: (typeof PAGES)[number][0]): Html {
  return html`<nav aria-label="This monitor">
    <p class="actions">
      ${PAGES.map(
        ([below, name]) =>
          html`<a href="${visit.path(`/monitors/${id}${below}`)}" ${below === current && html`aria-current="page"`}
            >${name}</a
          >`,
      )}
    </p>
  </nav>`;
}
