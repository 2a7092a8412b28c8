import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { html, trustedHtml } from '../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../shared/http/html.ts';
import type { FieldProblems, FormFields, PageRequest } from './page.ts';

const ICON_NAMES = [
  ...([
    'arrow-down-tray',
    'bars-3',
    'bell-alert',
    'book-open',
    'bookmark',
    'chart-bar',
    'check',
    'check-circle',
  ] as const),
  ...(['command-line', 'credit-card', 'exclamation-triangle', 'home', 'key', 'paper-airplane', 'plus'] as const),
  ...(['puzzle-piece', 'signal', 'speaker-x-mark', 'user-circle', 'x-circle'] as const),
  ...(['arrow-path', 'arrow-uturn-left', 'check', 'eye-slash', 'no-symbol', 'question-mark-circle'] as const),
  ...(['adjustments-horizontal', 'x-mark'] as const),
];

export type IconName = (typeof ICON_NAMES)[number];

const ICONS = new Map(
  ICON_NAMES.map((name) => {
    const file = createRequire(import.meta.url).resolve(`heroicons/24/outline/${name}.svg`);
    return [name, trustedHtml(readFileSync(file, 'utf8'))] as const;
  }),
);

/** Decorative: the text beside it says the same. */
export const icon = (name: IconName): Html => ICONS.get(name)!;

/** A heading with what can be done on the page beside it. */
export function heading(title: HtmlValue, actions?: HtmlValue): Html {
  return html`<div class="title">
    <h1>${title}</h1>
    ${Boolean(actions) && html`<div class="actions">${actions}</div>`}
  </div>`;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const number = (value: number): string => value.toLocaleString('en');

/** Ten minutes, in days. */
const SHORTEST_PACE = 1 / 144;

/** How many come a day: "about 66 a day". Nothing is said without any, or of less than ten minutes. */
export function paceInWords(count: number, days: number): string {
  if (days < SHORTEST_PACE || count === 0) return '';
  if (count < days) return 'fewer than one a day';
  return `about ${number(Math.round(count / days))} a day${days < 1 ? ' at this pace' : ''}`;
}

/** A time as UTC text; the script adds the reader's own time to it as a tooltip. */
export function time(at: Date | string, to: 'minute' | 'second' = 'minute'): Html {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, to === 'minute' ? 16 : 19).replace('T', ' ')} UTC</time>`;
}

/** How long ago something was, in the largest unit that fits: "45 s", "3 min", "5 h", "12 days". */
export function ago(at: Date | string, now: number): Html {
  const iso = new Date(at).toISOString();
  const seconds = Math.max(0, Math.round((now - Date.parse(iso)) / 1000));
  const inWords =
    seconds < MINUTE
      ? `${seconds} s`
      : seconds < HOUR
        ? `${Math.floor(seconds / MINUTE)} min`
        : seconds < 2 * DAY
          ? `${Math.floor(seconds / HOUR)} h`
          : `${Math.floor(seconds / DAY)} days`;
  return html`<time datetime="${iso}" title="${iso.slice(0, 19).replace('T', ' ')} UTC">${inWords} ago</time>`;
}

const NOTICE_ICONS = { good: 'check-circle', warn: 'exclamation-triangle', bad: 'x-circle' } as const;

export function notice(kind: 'good' | 'warn' | 'bad' | '', message: HtmlValue, actions?: HtmlValue): Html {
  if (kind === '') return html`<p class="notice">${message}</p>`;
  // A notice with actions is a state of the page, which live updates replace: it is not read aloud each time.
  const role = actions === undefined && html`role="${kind === 'good' ? 'status' : 'alert'}"`;
  return html`<div class="notice with-icon ${kind}" ${role}>
    ${icon(NOTICE_ICONS[kind])}
    <div>${message} ${actions !== undefined && html`<div class="actions">${actions}</div>`}</div>
  </div>`;
}

/** The sentence for what was done before a redirect to `?done=NAME`; nothing for an unknown name. */
export function doneNotice({ query }: PageRequest, sentences: Readonly<Record<string, string>>): HtmlValue {
  const done = query.text('done');
  return Object.hasOwn(sentences, done) && notice('good', sentences[done]);
}

/** The problems of a form that belong to none of these fields. */
export function otherProblems(problems: FieldProblems, fields: readonly string[]): HtmlValue {
  return [...problems].map(([name, message]) => !fields.includes(name) && notice('bad', message));
}

/** Before a form that was refused: its problems. */
export function problemSummary(problems: FieldProblems): HtmlValue {
  return problems.size > 0 && notice('bad', html`<strong>Nothing was saved yet.</strong> ${problemLinks(problems)}`);
}

/** Each with a link to its field, which may be far below. */
export const problemLinks = (problems: FieldProblems): Html =>
  list(
    [...problems].map(([name, message]) =>
      name === '' ? message : html`<a href="#${name}">${message.split('\n')[0]}</a>`,
    ),
  );

export const list = (items: readonly HtmlValue[]): Html =>
  html`<ul>
    ${items.map((item) => html`<li>${item}</li>`)}
  </ul>`;

/** Amounts are aligned to the right. */
const AMOUNT = /^[<+-]?\$?[\d,.]+%?$/;

/** What a card calls the cell. What is empty or a button needs no name. */
function labelOf(cell: HtmlValue, column = ''): HtmlValue {
  const isNamed = column !== 'Actions' && cell !== false && String(cell ?? '').trim() !== '';
  return isNamed && html`data-label="${column}:"`;
}

/**
 * The first cell of a row is its heading.
 *
 * @param isWide makes each row a card on narrow screens; other tables scroll there
 */
export function table(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly HtmlValue[])[],
  isWide = columns.length > 3,
): Html {
  const cells = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? number(cell) : cell)));
  const classOf = (cell: HtmlValue) => typeof cell === 'string' && AMOUNT.test(cell) && html`class="number"`;
  const rowOf = ([first, ...others]: readonly HtmlValue[]) =>
    html`<tr>
      <th scope="row">${first}</th>
      ${others.map((cell, n) => html`<td ${classOf(cell)} ${isWide && labelOf(cell, columns[n + 1])}>${cell}</td>`)}
    </tr>`;
  return html`<div class="scroll ${isWide && 'wide'}" tabindex="0" role="region" aria-label="${caption}">
    <table>
      <caption class="hidden">
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map((name, column) => html`<th scope="col" ${classOf(cells[0]?.[column])}>${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${cells.map(rowOf)}
      </tbody>
    </table>
  </div>`;
}

/** Views of the same page, one of which is shown. */
export function pills(
  label: string,
  links: readonly (readonly [href: string, name: HtmlValue, isCurrent: boolean])[],
): Html {
  return html`<nav class="pills" aria-label="${label}">
    ${links.map(([href, name, isCurrent]) => html`<a href="${href}" ${isCurrent && html`aria-current="page"`}>${name}</a>`)}
  </nav>`;
}

export function figures(all: readonly (readonly [name: string, value: HtmlValue, note?: HtmlValue])[]): Html {
  return html`<dl class="figures">
    ${all.map(
      ([name, value, note]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>
            ${typeof value === 'string' ? html`<span class="large">${value}</span>` : value}
            ${Boolean(note) && html`<span class="note">${note}</span>`}
          </dd>
        </div>`,
    )}
  </dl>`;
}

/** A text to copy, with a button where scripts run. `id` must be unique on the page. */
export function copyable(id: string, text: string, label: string, isCode = false): Html {
  const code = html`<code id="${id}">${text}</code>`;
  return html`<div class="copyable ${isCode && 'block'}">
    ${isCode ? html`<pre tabindex="0" aria-label="${label}">${code}</pre>` : code}
    <button type="button" class="quiet" data-copy="${id}" hidden>Copy<span class="hidden"> ${label}</span></button>
  </div>`;
}

interface PostButton {
  /** Below /dashboard. */
  action: string;
  label: HtmlValue;
  fields?: Readonly<Record<string, string>>;
}

export function postButton(request: PageRequest, { action, label, fields = {} }: PostButton, kind = 'quiet'): Html {
  return html`<form method="post" action="${request.path(action)}" class="inline">
    ${request.csrfField}
    ${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <button class="${kind}">${label}</button>
  </form>`;
}

/** A button that cannot be pressed by accident: it is inside a disclosure that names the consequences. */
export function dangerousButton(
  request: PageRequest,
  button: PostButton & { summary: HtmlValue; consequences: HtmlValue },
): Html {
  return html`<details class="danger">
    <summary>${button.summary}</summary>
    <p>${button.consequences}</p>
    ${postButton(request, button, 'danger')}
  </details>`;
}

export interface Field {
  name: string;
  label: string;
  value: string;
  hint?: HtmlValue;
  problem?: string | undefined;
  required?: boolean;
  autofocus?: boolean;
}

interface TextField extends Field {
  type?: 'text' | 'email' | 'url' | 'search' | 'datetime-local';
  autocomplete?: string;
  inputmode?: 'numeric';
  maxlength?: number;
}

export function typed(fields: FormFields, problems: FieldProblems, name: string, otherwise = '') {
  return { name, value: fields.text(name) || otherwise, problem: problems.get(name) };
}

export function field(of: TextField): Html {
  const { type = 'text', autocomplete, inputmode, maxlength } = of;
  return row(
    of,
    html`<input
      id="${of.name}"
      name="${of.name}"
      type="${type}"
      value="${of.value}"
      ${autocomplete !== undefined && html`autocomplete="${autocomplete}"`}
      ${inputmode !== undefined && html`inputmode="${inputmode}"`}
      ${maxlength !== undefined && html`maxlength="${maxlength}"`}
      ${described(of)}
    />`,
  );
}

export function textArea(of: Field & { rows: number }): Html {
  return row(
    of,
    // The line break after the tag is dropped by browsers, so that a value may begin with one.
    html`<textarea id="${of.name}" name="${of.name}" rows="${of.rows}" spellcheck="false" ${described(of)}>
${of.value}</textarea>`,
  );
}

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
export function checkbox(name: string, label: HtmlValue, checked: boolean, value = 'on'): Html {
  return html`<label class="check"
    ><input type="checkbox" name="${name}" value="${value}" ${checked && html`checked`} /> <span>${label}</span></label
  >`;
}

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

function described({ name, hint, problem, required, autofocus }: Field): HtmlValue {
  const ids = [hint !== undefined && `${name}-hint`, problem !== undefined && `${name}-problem`].filter(Boolean);
  return [
    ids.length > 0 && html`aria-describedby="${ids.join(' ')}" `,
    problem !== undefined && html`aria-invalid="true" `,
    required === true && html`required `,
    autofocus === true && html`autofocus `,
  ];
}
