import { html } from '../../../../shared/html/html.ts';
import type { Html } from '../../../../shared/html/html.ts';

/** A text to copy, with a button where scripts run. `id` must be unique on the page. */
export function copyable(id: string, text: string, label: string): Html {
  return html`<div class="copyable">
    <code id="${id}">${text}</code>
    <button type="button" class="quiet" data-copy="${id}" hidden>Copy<span class="hidden"> ${label}</span></button>
  </div>`;
}

/** Several lines of code to copy. */
export function codeBlock(id: string, code: string, label: string): Html {
  return html`<div class="copyable block">
    <pre tabindex="0" aria-label="${label}"><code id="${id}">${code}</code></pre>
    <button type="button" class="quiet" data-copy="${id}" hidden>Copy<span class="hidden"> ${label}</span></button>
  </div>`;
}
