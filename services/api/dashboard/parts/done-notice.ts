import { html } from '../../../../shared/html/html.ts';
import type { HtmlValue } from '../../../../shared/html/html.ts';
import type { Visit } from '../page-route.ts';

/** What was done before a redirect to `?done=NAME`, as a page says it; nothing for an unknown name. */
export function doneNotice({ query }: Visit, sentences: ReadonlyMap<string, string>): HtmlValue {
  const sentence = sentences.get(query.text('done'));
  return sentence !== undefined && html`<p class="notice good" role="status">${sentence}</p>`;
}
