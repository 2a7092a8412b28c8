import type { PreviewAnswer } from '../../../../schemas/api/monitors/preview.ts';
import { MONITOR_PERIOD_CREDITS } from '../../../../shared/domain/accounts/credits.ts';
import { MATCHES_PER_CREDIT } from '../../../../shared/domain/backfill-room.ts';
import { ApiError } from '../../http/api-error.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../shared/html/html.ts';
import { problemsOf } from '../call-api.ts';
import type { FieldProblems } from '../call-api.ts';
import type { Visit } from '../page-route.ts';
import { checkbox, field, fieldset, select, textArea } from '../parts/field.ts';
import { BACKFILL_HOURS } from './matches/backfill-page.ts';
import { entryOf } from './monitor-form-values.ts';
import type { MonitorFormValues } from './monitor-form-values.ts';
import { previewSection } from './preview-section.ts';

/** Each is found in its field again, which takes time. */
const MOST_SHOWN = 50;

export interface MonitorForm {
  values: MonitorFormValues;
  problems: FieldProblems;
  /** Below /dashboard. */
  action: string;
  submit: string;
  /** What pressing the button costs, or that it costs nothing. */
  cost: HtmlValue;
  /** The rule as text, as it was typed; and what is wrong with it. */
  query?: string;
  /** What the rule in the form says. */
  saidBack?: readonly string[] | undefined;
  /** Of a monitor that is created: it may find earlier matches too. */
  isNew?: boolean;
  /** What the rule in the form would have found. */
  preview?: PreviewAnswer | undefined;
  /** Sent along with the form. */
  hidden?: HtmlValue;
}

/**
 * Returns the message for each faulty field, with the entries as the person typed them.
 *
 * @throws the error when it is not a refusal that the person can mend in the form
 */
export function monitorProblems(error: unknown, values: MonitorFormValues): FieldProblems {
  if (!(error instanceof ApiError) || error.faults.length === 0) return problemsOf(error);
  const problems = new Map<string, string>();
  for (const { field: faulty, message } of error.faults.slice(0, MOST_SHOWN)) {
    const { name, entry } = entryOf(values, faulty);
    const known = name.replace(/^include_/, '');
    const said = entry === undefined ? message : `“${entry}” ${message}`;
    problems.set(known, problems.has(known) ? `${problems.get(known)!}; ${said}` : said);
  }
  return problems;
}

/** The form of a new or an existing monitor. Its first button is the one that Enter presses. */
export function monitorForm(visit: Visit, form: MonitorForm): Html {
  const { values, problems, action, submit, cost } = form;
  return html`<form method="post" action="${visit.path(action)}">
    ${visit.csrfField} ${form.hidden} ${unplacedProblems(form)}
    ${field({ ...of(form, 'name'), label: 'Name', required: true, maxlength: 200 })}
    ${textArea({
      ...of(form, 'keywords'),
      label: 'Keywords',
      rows: 5,
      hint: 'One a line; any of them is enough. Whole words and phrases, in small or capital letters.',
    })}
    ${textArea({
      ...of(form, 'exclude'),
      label: 'Excluded terms',
      rows: 3,
      hint: 'One a line. Nothing with any of them matches.',
    })}
    ${textArea({
      ...of(form, 'subreddits'),
      label: 'Communities',
      rows: 3,
      hint: 'One a line, with or without r/. Empty: all communities.',
    })}
    ${fieldset(
      'What is watched',
      [
        checkbox({ name: 'posts', label: 'Posts', checked: values.posts }),
        checkbox({ name: 'comments', label: 'Comments', checked: values.comments }),
        checkbox({ name: 'nsfw', label: 'Also what is marked NSFW', checked: values.nsfw }),
      ],
      problems.get('posts') ?? problems.get('comments') ?? problems.get('nsfw'),
    )}
    ${field({
      ...of(form, 'webhook_url'),
      label: 'Webhook URL',
      // Not of type url: the API says what is wrong with an address.
      hint: 'Where matches are sent, beginning with https://. Empty: matches are only kept here.',
    })}
    ${select({
      ...of(form, 'webhook_kind'),
      label: 'Kind of webhook',
      options: [
        ['', 'Detect it from the URL'],
        ['generic', 'Generic: signed JSON'],
        ['slack', 'Slack'],
        ['discord', 'Discord'],
      ],
    })}
    ${options(form)} ${form.isNew === true && earlierMatches(form)} ${advanced(form)} ${said(form.saidBack)}
    <div class="actions">
      <button>${submit}</button>
      <button class="quiet" name="do" value="try">Try it</button>
      <button class="quiet" name="do" value="say">Say the rule in words</button>
      <span class="note">${cost}</span>
    </div>
    ${previewSection(form.preview)} ${asText(form)}
  </form>`;
}

function earlierMatches(form: MonitorForm): Html {
  return select({
    ...of(form, 'backfill_hours'),
    label: 'Earlier matches',
    hint: `Finding them costs 1 credit for each started ${MATCHES_PER_CREDIT}.`,
    options: [['', 'None: only what enters from now on'], ...BACKFILL_HOURS],
  });
}

/** What is sent, and when. */
function options(form: MonitorForm): Html {
  const { values, problems } = form;
  return html`${select({
    ...of(form, 'digest'),
    label: 'When matches are sent',
    options: [
      ['', 'Each at once, to the webhook'],
      ['hourly', 'Together, each hour: to the webhook, or by mail without one'],
      ['daily', 'Together, each midnight (UTC): to the webhook, or by mail without one'],
    ],
  })}
  ${checkbox({
    name: 'spike_webhook',
    label: 'Tell the webhook of an hour with unusually many matches',
    checked: values.spike_webhook,
  })}
  ${problems.has('spike_webhook') && html`<p class="problem">${problems.get('spike_webhook')}</p>`}`;
}

/** What creating or resuming costs this account. */
export function costOfPeriod({ account }: Visit): string {
  const credits = MONITOR_PERIOD_CREDITS;
  return `Costs ${credits} credits now, and ${credits} for each further 24 hours. You have ${account.balance.toLocaleString('en')}.`;
}

export function said(sentences: readonly string[] | undefined): HtmlValue {
  return (
    sentences !== undefined &&
    html`<div class="notice" id="said">
      <p><strong>In words:</strong></p>
      <ul>
        ${sentences.map((sentence) => html`<li>${sentence}</li>`)}
      </ul>
    </div>`
  );
}

type TextName = {
  [Name in keyof MonitorFormValues]: MonitorFormValues[Name] extends string ? Name : never;
}[keyof MonitorFormValues];

function of({ values, problems }: MonitorForm, name: TextName): { name: string; value: string; problem?: string } {
  const problem = problems.get(name);
  return { name, value: values[name], ...(problem !== undefined && { problem }) };
}

/** Problems that belong to no field: those of the whole request. */
function unplacedProblems({ problems, values }: MonitorForm): HtmlValue {
  const unplaced = [...problems].filter(([name]) => name !== 'query' && !(name in values));
  return unplaced.map(
    ([name, message]) => html`<p class="notice bad" role="alert">${name !== '' && `${name}: `}${message}</p>`,
  );
}

const ADVANCED = [
  'terms',
  'require',
  'match_in',
  'exclude_subreddits',
  'authors',
  'exclude_authors',
  'languages',
  'thread_once',
] as const;

function advanced(form: MonitorForm): Html {
  const { values, problems } = form;
  const isOpen = ADVANCED.some((name) => problems.has(name) || isUsed(values[name]));
  return html`<details ${isOpen && html`open`}>
    <summary>More conditions</summary>
    ${textArea({
      ...of(form, 'terms'),
      label: 'Keywords with conditions',
      rows: 3,
      hint: html`One a line, beside the keywords. <code>hiring*</code>: words that begin so. <code>=Go</code>: letters
        as written. <code>title:rust</code>: only in titles. <code>post_title:rust</code>: in the title of a comment’s
        post.`,
    })}
    ${textArea({
      ...of(form, 'require'),
      label: 'Required as well',
      rows: 3,
      hint: html`One group a line; of each group a term must occur: <code>hiring OR job* OR "open position"</code>.`,
    })}
    ${fieldset(
      'Where keywords count (none ticked: in titles of posts and in texts)',
      [
        ['title', 'Titles of posts'],
        ['body', 'Texts of posts and comments'],
        ['post_title', 'For comments, the title of their post'],
      ].map(([value = '', label]) =>
        checkbox({ name: 'match_in', value, label, checked: values.match_in.includes(value) }),
      ),
      problems.get('match_in'),
    )}
    ${textArea({ ...of(form, 'exclude_subreddits'), label: 'Communities to leave out', rows: 2, hint: 'One a line.' })}
    ${textArea({ ...of(form, 'authors'), label: 'Only by these accounts', rows: 2, hint: 'One a line.' })}
    ${textArea({ ...of(form, 'exclude_authors'), label: 'Not by these accounts', rows: 2, hint: 'One a line.' })}
    ${field({
      ...of(form, 'languages'),
      label: 'Only in these languages',
      hint: html`Codes of two letters: <code>en de</code>. <code>und</code>: also texts whose language is not clear.`,
    })}
    ${checkbox({
      name: 'thread_once',
      label: 'At most one match a thread and day; further ones are kept but not sent',
      checked: values.thread_once,
    })}
    ${problems.has('thread_once') && html`<p class="problem">${problems.get('thread_once')}</p>`}
  </details>`;
}

function isUsed(value: MonitorFormValues[keyof MonitorFormValues]): boolean {
  return typeof value === 'boolean' ? value : value.length > 0;
}

/** The rule as text, which fills the fields above. */
function asText({ query = '', problems }: MonitorForm): Html {
  const [problem, ...pointed] = (problems.get('query') ?? '').split('\n');
  return html`<details ${(query !== '' || problem !== '') && html`open`}>
    <summary>Or write the rule as text</summary>
    ${textArea({
      name: 'query',
      label: 'Rule as text',
      rows: 3,
      value: query,
      hint: html`<code>rust AND (hiring OR job*) -game sub:-rustjerk</code>. Filling replaces all fields of the rule.`,
      ...(problem !== '' && { problem }),
    })}
    ${pointed.length > 0 && html`<pre class="scroll" tabindex="0" aria-label="Where it is">${pointed.join('\n')}</pre>`}
    <button class="quiet" name="do" value="fill">Fill the fields from this text</button>
  </details>`;
}
