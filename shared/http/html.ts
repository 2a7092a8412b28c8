import { html as template, raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';

/** Text that is already HTML. A String object: `String(…)` of it is the text. */
export type Html = HtmlEscapedString;

/** What a template may hold. Booleans, null and undefined become nothing, so `isOpen && html…` may stand in one. */
export type HtmlValue = string | number | boolean | null | undefined | Html | readonly HtmlValue[];

/** HTML with interpolated values. Values that are not Html are escaped, for text and for quoted attributes. */
export function html(parts: TemplateStringsArray, ...values: HtmlValue[]): Html {
  // The library returns a promise only when a value is one.
  return template(parts, ...values) as Html;
}

/** Marks text as HTML. Never call it with text from outside. */
export function trustedHtml(text: string): Html {
  return raw(text);
}
