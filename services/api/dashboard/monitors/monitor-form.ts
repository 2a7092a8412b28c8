import { MATCHES_PER_CREDIT } from '../../../../shared/backfills/rules/backfill-numbering.ts';
import { html } from '../../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../../shared/http/html.ts';
import type { PageRequest } from '../page.ts';
import { checkbox, field, fieldset, problemSummary, select, textArea } from '../parts.ts';
import { deliveryFields, of, problemOf } from './delivery-fields.ts';
import type { Filling, TextName } from './delivery-fields.ts';
import { EXAMPLE_RULES } from './example-rules.ts';
import { BACKFILL_HOURS } from './export-page.ts';
import { valuesOfRule } from './monitor-form-values.ts';
import { TRY_PATH } from './try-page.ts';
import { trialLine, trialPanel } from './try-panel.ts';
import type { Trial } from './try-panel.ts';

export interface MonitorForm extends Filling {
  /** Below /dashboard. */
  action: string;
  submit: string;
  cost: HtmlValue;
  query?: string;
  /** Of a monitor that is created: it needs no name, and it may find earlier matches too. */
  isNew?: boolean;
  trial?: Trial;
  hidden?: HtmlValue;
}

/** The fields that make the rule. The script asks again when one of them has changed. */
const RULE_FIELDS = Object.keys(valuesOfRule({})).join(' ');

/**
 * The form of a new or an existing monitor, with the panel that says what its rule finds. The first button is the one
 * that Enter presses; without it, that would be a suggestion.
 */
export function monitorForm(request: PageRequest, form: MonitorForm): Html {
  const { problems, submit, cost, trial = {} } = form;
  const action = request.path(form.action);
  const result = `${action}#preview`;
  return html`<form
    method="post"
    action="${action}"
    class="try-it"
    data-try="${request.path(TRY_PATH)}${form.trial?.hasMutes === true && '?mutes'}"
    data-rule="${RULE_FIELDS}"
  >
    <button hidden>${submit}</button>
    <div class="inputs">
      ${request.csrfField} ${form.hidden} ${problemSummary(problems)} ${whatToFind(form)} ${moreConditions(form)}
      ${form.isNew === true && [group('Where matches go', deliveryFields(form, request.account.email)), earlier(form)]}
    </div>
    <div class="side">
      <div class="top">
        <div class="actions">
          <button>${submit}</button>
          <button class="quiet" name="do" value="try" formaction="${result}">Preview matches</button>
          <button class="quiet" name="do" value="say" formaction="${result}">Explain this rule</button>
          <span class="note">${cost}</span>
        </div>
        ${trialLine(trial, request)}
      </div>
      ${trialPanel(request, trial, result)}
    </div>
  </form>`;
}

/** Ways to begin. They work as links, so that they need no script. */
export function exampleLinks(request: PageRequest, chosen: string): Html {
  const page = request.path('/monitors/new');
  return html`<nav class="examples" aria-label="Examples">
    <p>Begin with the form below, or with an example, which replaces what is typed in the form:</p>
    <ul>
      ${Object.entries(EXAMPLE_RULES).map(
        ([name, { label, finds }]) =>
          html`<li>
            <a href="${page}?example=${name}" ${name === chosen && html`aria-current="true"`}
              ><strong>${label}</strong> <span>${finds}</span></a
            >
          </li>`,
      )}
    </ul>
  </nav>`;
}

function whatToFind(form: MonitorForm): Html {
  const { values, problems, isNew = false } = form;
  const hint = isNew && 'Optional. Without a name, its first keyword is used.';
  return group(
    'What to find',
    html`${field({ ...of(form, 'name'), label: 'Name', maxlength: 200, ...(isNew ? { hint } : { required: true }) })}
    ${lines(form, 'keywords', 'Keywords', 'One per line; any of them is enough. Matches whole words and phrases and ignores case.', 4)}
    ${lines(form, 'exclude', 'Excluded terms', 'One per line. Items that contain any of them do not match.', 2)}
    ${lines(form, 'subreddits', 'Communities', 'One per line, with or without r/. Leave it empty for all communities.', 2)}
    ${fieldset(
      'What to watch',
      [
        checkbox('posts', 'Posts', values.posts),
        checkbox('comments', 'Comments', values.comments),
        checkbox('nsfw', 'Include NSFW items', values.nsfw),
      ],
      problems.get('posts') ?? problems.get('comments') ?? problems.get('nsfw'),
    )}
    ${asText(form)}`,
  );
}

function earlier(form: MonitorForm): Html {
  return group(
    'Earlier matches',
    select({
      ...of(form, 'backfill_hours'),
      label: 'Look back',
      hint: `Costs 1 credit per ${MATCHES_PER_CREDIT} matches, rounded up.`,
      options: [['', 'Not at all: only new posts and comments'], ...BACKFILL_HOURS],
    }),
  );
}

function group(title: string, content: HtmlValue): Html {
  return html`<section class="group">
    <h2>${title}</h2>
    ${content}
  </section>`;
}

function lines(form: MonitorForm, name: TextName, label: string, hint: HtmlValue, rows = 3): Html {
  return textArea({ ...of(form, name), label, rows, hint });
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

function moreConditions(form: MonitorForm): Html {
  const { values, problems } = form;
  const isOpen = ADVANCED.some((name) => problems.has(name) || !['', 'false'].includes(String(values[name])));
  return html`<section class="group">
    <details ${isOpen && html`open`}>
      <summary><h2>More conditions</h2></summary>
      ${lines(form, 'terms', 'Keywords with conditions', TERMS_HINT)}
      ${lines(form, 'require', 'Also required', REQUIRE_HINT)}
      ${fieldset(
        'Where keywords count (default: post titles and texts)',
        TEXTS.map(([value, label]) => checkbox('match_in', label, values.match_in.includes(value), value)),
        problems.get('match_in'),
      )}
      ${lines(form, 'exclude_subreddits', 'Communities to leave out', 'One per line.', 2)}
      ${lines(form, 'authors', 'Only by these accounts', 'One per line.', 2)}
      ${lines(form, 'exclude_authors', 'Not by these accounts', 'One per line.', 2)}
      ${field({ ...of(form, 'languages'), label: 'Only in these languages', hint: LANGUAGES_HINT })}
      ${checkbox('thread_once', 'At most one match per thread and day; further ones are stored but not sent', values.thread_once)}
      ${problemOf(form, 'thread_once')}
    </details>
  </section>`;
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
