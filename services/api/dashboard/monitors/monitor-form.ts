import type { PreviewAnswer, PreviewSample, Suggestion } from '../../../../schemas/api/rules.ts';
import { MATCHES_PER_CREDIT } from '../../../../shared/backfills/rules/backfill-numbering.ts';
import { html } from '../../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../../shared/http/html.ts';
import type { FieldProblems, PageRequest } from '../page.ts';
import { checkbox, field, fieldset, notice, number, otherProblems, select, textArea } from '../parts.ts';
import { BACKFILL_HOURS } from './export-page.ts';
import { markedExcerpt, markedText } from './matches.ts';
import type { MonitorFormValues } from './monitor-form-values.ts';
import { inWords } from './monitor-frame.ts';

export interface MonitorForm {
  values: MonitorFormValues;
  problems: FieldProblems;
  /** Below /dashboard. */
  action: string;
  submit: string;
  cost: HtmlValue;
  query?: string;
  ruleWords?: readonly string[] | undefined;
  /** Of a monitor that is created: it may find earlier matches too. */
  isNew?: boolean;
  preview?: PreviewAnswer | undefined;
  hidden?: HtmlValue;
}

/** The form of a new or an existing monitor. Its first button is the one that Enter presses. */
export function monitorForm(request: PageRequest, form: MonitorForm): Html {
  const { values, problems, action, submit, cost } = form;
  return html`<form method="post" action="${request.path(action)}">
    ${request.csrfField} ${form.hidden} ${otherProblems(problems, ['query', ...Object.keys(values)])}
    ${field({ ...of(form, 'name'), label: 'Name', required: true, maxlength: 200 })}
    ${lines(form, 'keywords', 'Keywords', 'One per line; any of them is enough. Matches whole words and phrases and ignores case.', 5)}
    ${lines(form, 'exclude', 'Excluded terms', 'One per line. Items that contain any of them do not match.')}
    ${lines(form, 'subreddits', 'Communities', 'One per line, with or without r/. Empty: all communities.')}
    ${fieldset(
      'What to watch',
      [
        checkbox('posts', 'Posts', values.posts),
        checkbox('comments', 'Comments', values.comments),
        checkbox('nsfw', 'Include NSFW items', values.nsfw),
      ],
      problems.get('posts') ?? problems.get('comments') ?? problems.get('nsfw'),
    )}
    ${field({
      ...of(form, 'webhook_url'),
      label: 'Webhook URL',
      // Not of type url: the API says what is wrong with an address.
      hint: 'Where to send matches; starts with https://. You can leave it empty.',
    })}
    ${select({ ...of(form, 'webhook_kind'), label: 'Kind of webhook', options: WEBHOOK_KINDS })}
    ${select({ ...of(form, 'digest'), label: 'When to send matches', options: DIGESTS })}
    ${checkbox('spike_webhook', 'Notify the webhook about spikes: hours with unusually many matches', values.spike_webhook)}
    ${problemOf(form, 'spike_webhook')}
    ${checkbox('notify', 'Mail me: the first match immediately, then at most one mail every five minutes', values.notify)}
    ${problemOf(form, 'notify')}
    ${
      form.isNew === true &&
      select({
        ...of(form, 'backfill_hours'),
        label: 'Earlier matches',
        hint: `Costs 1 credit per ${MATCHES_PER_CREDIT} matches, rounded up.`,
        options: [['', 'None: only new posts and comments'], ...BACKFILL_HOURS],
      })
    }
    ${advanced(form)} ${inWords(form.ruleWords)}
    <div class="actions">
      <button>${submit}</button>
      <button class="quiet" name="do" value="try">Preview matches</button>
      <button class="quiet" name="do" value="say">Explain this rule</button>
      <span class="note">${cost}</span>
    </div>
    ${previewSection(form.preview)} ${asText(form)}
  </form>`;
}

const WEBHOOK_KINDS = [
  ['', 'Detect it from the URL'],
  ['generic', 'Generic: signed JSON'],
  ['slack', 'Slack'],
  ['discord', 'Discord'],
] as const;
const DIGESTS = [
  ['', 'Immediately, one by one, to the webhook'],
  ['hourly', 'Together every hour, to the webhook or, without one, by mail'],
  ['daily', 'Together every midnight (UTC), to the webhook or, without one, by mail'],
] as const;

type TextName = {
  [Name in keyof MonitorFormValues]: MonitorFormValues[Name] extends string ? Name : never;
}[keyof MonitorFormValues];

function of({ values, problems }: MonitorForm, name: TextName) {
  return { name, value: values[name], problem: problems.get(name) };
}

function lines(form: MonitorForm, name: TextName, label: string, hint: HtmlValue, rows = 3): Html {
  return textArea({ ...of(form, name), label, rows, hint });
}

function problemOf({ problems }: MonitorForm, name: string): HtmlValue {
  return problems.has(name) && html`<p class="problem">${problems.get(name)}</p>`;
}

const ADVANCED = [
  ...(['terms', 'require', 'match_in', 'exclude_subreddits'] as const),
  ...(['authors', 'exclude_authors', 'languages', 'thread_once'] as const),
];
const TERMS_HINT = html`One per line, in addition to the keywords. <code>hiring*</code>: words that begin with it.
  <code>=Go</code>: case-sensitive. <code>title:rust</code>: only in titles. <code>post_title:rust</code>: in the title
  of a comment’s post.`;
const REQUIRE_HINT = html`One group per line. At least one term of each group must occur:
  <code>hiring OR job* OR "open position"</code>.`;
const LANGUAGES_HINT = html`Two-letter codes: <code>en de</code>. <code>und</code>: texts whose language is not clear.`;
const TEXTS = [
  ['title', 'Titles of posts'],
  ['body', 'Texts of posts and comments'],
  ['post_title', 'For comments, the title of their post'],
] as const;

function advanced(form: MonitorForm): Html {
  const { values, problems } = form;
  const isOpen = ADVANCED.some((name) => problems.has(name) || !['', 'false'].includes(String(values[name])));
  return html`<details ${isOpen && html`open`}>
    <summary>More conditions</summary>
    ${lines(form, 'terms', 'Keywords with conditions', TERMS_HINT)}
    ${lines(form, 'require', 'Also required', REQUIRE_HINT)}
    ${fieldset(
      'Where keywords count (default: post titles and texts)',
      TEXTS.map(([value, label]) => checkbox('match_in', label, values.match_in.includes(value), value)),
      problems.get('match_in'),
    )}
    ${lines(form, 'exclude_subreddits', 'Communities to leave out', 'One a line.', 2)}
    ${lines(form, 'authors', 'Only by these accounts', 'One a line.', 2)}
    ${lines(form, 'exclude_authors', 'Not by these accounts', 'One a line.', 2)}
    ${field({ ...of(form, 'languages'), label: 'Only in these languages', hint: LANGUAGES_HINT })}
    ${checkbox('thread_once', 'At most one match per thread and day; further ones are stored but not sent', values.thread_once)}
    ${problemOf(form, 'thread_once')}
  </details>`;
}

function asText({ query = '', problems }: MonitorForm): Html {
  const [problem, ...pointed] = (problems.get('query') ?? '').split('\n');
  return html`<details ${(query !== '' || problem !== '') && html`open`}>
    <summary>Or write the rule as text</summary>
    ${textArea({
      name: 'query',
      label: 'Rule as text',
      rows: 3,
      value: query,
      hint: html`<code>rust AND (hiring OR job*) -game sub:-rustjerk</code>. This replaces all fields of the rule.`,
      ...(problem !== '' && { problem }),
    })}
    ${pointed.length > 0 && html`<pre class="scroll" tabindex="0" aria-label="Where the error is">${pointed.join('\n')}</pre>`}
    <button class="quiet" name="do" value="fill">Fill in the fields from this text</button>
  </details>`;
}

/** Entries shown of each list; the API has all. */
const SHOWN = 8;

/** What the rule in a form would have found. It stands in the form: a suggestion is a button that fills a field. */
function previewSection(preview: PreviewAnswer | undefined): HtmlValue {
  if (preview === undefined) return undefined;
  const { by_day: days, by_keyword: keywords, by_subreddit: subreddits, samples, suggestions } = preview;
  return html`<section id="preview" aria-label="What it would have found">
    <h2>What it would have found</h2>
    ${totals(preview)} ${counts('By day (UTC)', days, ({ day }) => day)}
    ${counts('By keyword', keywords, ({ keyword }) => keyword)}
    ${counts('By community', subreddits, ({ subreddit }) => `r/${subreddit}`)}
    ${
      suggestions.length > 0 &&
      html`<h3>Suggestions</h3>
        <ul>
          ${suggestions.map(suggestionLine)}
        </ul>`
    }
    ${
      samples.length > 0 &&
      html`<h3>The newest</h3>
        <ul class="plain">
          ${samples.slice(0, SHOWN).map(sampleEntry)}
        </ul>`
    }
  </section>`;
}

function totals({
  total,
  exact,
  exact_from: from,
  capped_days: capped,
  credits_per_30_days: credits,
}: PreviewAnswer): Html {
  const since = `${from.slice(0, 16).replace('T', ' ')} UTC`;
  return html`<p>
      <strong>${number(total)} ${total === 1 ? 'match' : 'matches'}</strong> since ${since}.
      ${!exact && 'There may be more: there was not enough time to read the whole archive.'} Running it for 30 days
      costs ${credits} credits.
    </p>
    ${
      capped.length > 0 &&
      notice('bad', `Daily cap reached on ${capped.join(', ')}: further matches would not be sent.`)
    }`;
}

function counts<T extends { count: number }>(title: string, all: readonly T[], nameOf: (one: T) => string): HtmlValue {
  const shown = all.slice(0, SHOWN).map((one) => `${nameOf(one)} ${number(one.count)}`);
  return all.length > 0 && html`<p><strong>${title}:</strong> ${shown.join(', ')}${all.length > SHOWN && ' …'}</p>`;
}

/** The field that a suggestion fills. A community can only be left out: watching it alone would replace the rule. */
const FIELDS = {
  exclude: 'exclude',
  keyword: 'keywords',
  variant: 'keywords',
  subreddit: 'exclude_subreddits',
} as const;
const BUTTONS = { exclude: 'Exclude it', keyword: 'Add it', variant: 'Add it', subreddit: 'Leave it out' } as const;

function suggestionLine({ kind, value, message }: Suggestion): Html {
  return html`<li>
    ${message} <button class="quiet" name="add" value="${FIELDS[kind]} ${value}">${BUTTONS[kind]}</button>
  </li>`;
}

function sampleEntry(sample: PreviewSample): Html {
  const { kind, subreddit, title, body, permalink, highlights } = sample;
  const rangesIn = (wanted: string) => highlights.filter(({ field }) => field === wanted);
  return html`<li>
    <p>
      <a href="${permalink}" rel="noopener noreferrer"
        >${markedText(title, rangesIn(kind === 'post' ? 'title' : 'post_title'))}</a
      >
      <span class="note">${kind} in r/${subreddit}</span>
    </p>
    <p>${markedExcerpt(body, rangesIn('body'))}</p>
  </li>`;
}
