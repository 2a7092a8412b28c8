import { html } from '../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../shared/html/html.ts';

/** A field of a form. */
export interface Field {
  name: string;
  label: string;
  /** What is in it now: as stored, or as it was typed. */
  value: string;
  hint?: HtmlValue;
  /** What is wrong with the value; shown beside the field. */
  problem?: string | undefined;
  required?: boolean;
}

interface TextField extends Field {
  type?: 'text' | 'email' | 'url' | 'search' | 'datetime-local';
  autocomplete?: string;
  inputmode?: 'numeric';
  maxlength?: number;
}

/** A text field with its label, hint and problem. */
export function field(of: TextField): Html {
  return row(
    of,
    html`<input
      id="${of.name}"
      name="${of.name}"
      type="${of.type ?? 'text'}"
      value="${of.value}"
      ${attribute('autocomplete', of.autocomplete)}
      ${attribute('inputmode', of.inputmode)}
      ${attribute('maxlength', of.maxlength)}
      ${described(of)}
    />`,
  );
}

/** A field of several lines. */
export function textArea(of: Field & { rows: number }): Html {
  return row(
    of,
    // The line break after the tag is dropped by browsers, so that a value may begin with one.
    html`<textarea id="${of.name}" name="${of.name}" rows="${of.rows}" spellcheck="false" ${described(of)}>
${of.value}</textarea>`,
  );
}

/** A choice of one. */
export function select(of: Field & { options: readonly (readonly [value: string, label: string])[] }): Html {
  const options = of.options.map(
    ([value, label]) => html`<option value="${value}" ${value === of.value && html`selected`}>${label}</option>`,
  );
  return row(
    of,
    html`<select id="${of.name}" name="${of.name}" ${described(of)}>
      ${options}
    </select>`,
  );
}

/** A box to tick. Several may have one name; each then has its own value. */
export function checkbox(of: { name: string; value?: string; label: HtmlValue; checked: boolean }): Html {
  return html`<label class="check"
    ><input type="checkbox" name="${of.name}" value="${of.value ?? 'on'}" ${of.checked && html`checked`} />
    <span>${of.label}</span></label
  >`;
}

/** Several boxes or fields under one legend. */
export function fieldset(legend: string, content: HtmlValue, problem?: string): Html {
  return html`<fieldset>
    <legend>${legend}</legend>
    ${problem !== undefined && html`<p class="problem">${problem}</p>`} ${content}
  </fieldset>`;
}

function row(of: Field, control: Html): Html {
  return html`<div class="field">
    <label for="${of.name}">${of.label}</label>
    ${of.hint !== undefined && html`<p class="hint" id="${of.name}-hint">${of.hint}</p>`} ${control}
    ${of.problem !== undefined && html`<p class="problem" id="${of.name}-problem" role="alert">${of.problem}</p>`}
  </div>`;
}

function described({ name, hint, problem, required }: Field): HtmlValue {
  const ids = [hint !== undefined && `${name}-hint`, problem !== undefined && `${name}-problem`].filter(Boolean);
  return [
    ids.length > 0 && html`aria-describedby="${ids.join(' ')}" `,
    problem !== undefined && html`aria-invalid="true" `,
    required === true && html`required `,
  ];
}

function attribute(name: 'autocomplete' | 'inputmode' | 'maxlength', value: string | number | undefined): HtmlValue {
  if (value === undefined) return false;
  if (name === 'autocomplete') return html`autocomplete="${value}"`;
  return name === 'inputmode' ? html`inputmode="${value}"` : html`maxlength="${value}"`;
}
