import type { RuleWarning } from '../../../../schemas/api/monitors.ts';
import type { PreviewAnswer, PreviewProgress, PreviewSample, Suggestion } from '../../../../schemas/api/rules.ts';
import { html } from '../../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../../shared/http/html.ts';
import type { FieldProblems, PageRequest } from '../page.ts';
import { list, notice, number } from '../parts.ts';
import { forumLink, markedExcerpt, markedText } from './matches.ts';

/** What is known of the rule in a form so far. */
export interface Trial {
  /** In sentences. */
  words?: readonly string[];
  warnings?: readonly RuleWarning[];
  /** Of a rule that cannot be tried yet. */
  problems?: FieldProblems;
  /** While the archive is read. */
  progress?: PreviewProgress | 'started';
  /** Why there are no counts, and the seconds after which the script asks again. */
  refusal?: { message: string; again?: number };
  preview?: PreviewAnswer;
}

/**
 * The panel beside a form. It stands in the form, because a suggestion is a button that fills a field. The script
 * replaces its line and its two other parts, by their ids.
 *
 * @param again where its buttons submit to
 */
export function trialPanel(request: PageRequest, trial: Trial, again: string): Html {
  return html`<section id="preview" tabindex="-1" aria-labelledby="preview-title">
    <h2 id="preview-title">What it would find</h2>
    ${ruleOf(trial)} ${foundOf(trial, request.now, again)}
  </section>`;
}

/** The parts of the panel that a new state changes. Earlier counts stay while the archive is read. */
export function trialParts({ now }: PageRequest, trial: Trial): Html {
  return html`${trialLine(trial, now)} ${ruleOf(trial)} ${trial.progress === undefined && foundOf(trial, now)}`;
}

/** The names of fields in sentences. */
export const LABELS: Readonly<Record<string, string>> = {
  keywords: 'Keywords',
  exclude: 'Excluded terms',
  subreddits: 'Communities',
  posts: 'Posts',
  comments: 'Comments',
  nsfw: 'NSFW',
  terms: 'Keywords with conditions',
  require: 'Also required',
  match_in: 'Where keywords count',
  exclude_subreddits: 'Communities to leave out',
  authors: 'Only by these accounts',
  exclude_authors: 'Not by these accounts',
  languages: 'Only in these languages',
  thread_once: 'At most one match per thread',
};

/** Announced when it changes; it stays in view. */
export const trialLine = (trial: Trial, now: number): Html =>
  html`<div class="try-line" id="try-line" role="status">
    ${stateOf(trial, now)} ${trial.progress === undefined && hasMore(trial) && MORE}
  </div>`;

const hasMore = ({ words, problems }: Trial): boolean => words !== undefined || problems !== undefined;
/** Where the panel is not in view. */
const MORE = html`<a class="try-more" href="#preview">Details</a>`;

function stateOf({ words, problems, progress, refusal, preview }: Trial, now: number): HtmlValue {
  if (preview !== undefined) return totals(preview, now);
  if (problems !== undefined) return 'The rule is not complete yet.';
  if (refusal !== undefined) return html`<span class="bad">${refusal.message}</span>`;
  if (progress !== undefined) return progressOf(progress, now);
  if (words !== undefined) return '“Preview matches” counts what it would have found.';
  return html`<span class="idle">Type a keyword to see what the rule would have found in the last days.</span>`;
}

const DAY_MS = 86_400_000;
/** What a preview reads by default. */
const DAYS = 7;

/** The archive is read backwards from now. */
function progressOf(progress: PreviewProgress | 'started', now: number): Html {
  if (progress === 'started') return html`Searching…`;
  const { total, exact_from: from } = progress;
  const read = Math.min(100, Math.round((100 * (now - Date.parse(from))) / (DAYS * DAY_MS)));
  return html`<label
    >${matchesOf(total)} so far, back to ${minuteOf(from)} <progress max="100" value="${Math.max(1, read)}"></progress
  ></label>`;
}

const matchesOf = (total: number): string => `${number(total)} ${total === 1 ? 'match' : 'matches'}`;
const minuteOf = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`;

function totals(preview: PreviewAnswer, now: number): Html {
  const { total, credits_per_30_days: credits } = preview;
  const from = countedFrom(preview);
  if (from === undefined) {
    return html`The archive is still empty, so there is nothing to count. It costs ${credits} credits in 30 days.`;
  }
  const days = (now - Date.parse(from)) / DAY_MS;
  const rate =
    days < 1 || total === 0
      ? ''
      : total < days
        ? ', fewer than one a day'
        : `, about ${number(Math.round(total / days))} a day`;
  return html`<strong>${matchesOf(total)}</strong> since ${minuteOf(from)}${rate}. Costs ${number(credits)} credits in
    30 days.`;
}

/** The later one of the beginnings of the count and of the archive; undefined for an empty archive. */
function countedFrom({ exact_from: from, archive_from: start }: PreviewAnswer): string | undefined {
  return start === null ? undefined : start > from ? start : from;
}

function ruleOf({ words = [], warnings = [], problems, preview }: Trial): Html {
  const cautions = preview?.warnings ?? warnings;
  return html`<div id="try-rule">
    ${problems !== undefined && list([...problems].map(([name, message]) => named(name, message)))}
    ${
      words.length > 0 &&
      html`<h3>In words</h3>
        ${list(words)}`
    }
    ${
      cautions.length > 0 &&
      html`<div class="notice bad">
        <p><strong>This may not do what you mean:</strong></p>
        ${list(cautions.map(({ message }) => message))}
      </div>`
    }
  </div>`;
}

function named(name: string, message: string): Html {
  const label = LABELS[name];
  return html`${label !== undefined && html`<strong>${label}:</strong> `}${message}`;
}

/** Entries shown of each list; the API has all. */
const SHOWN = 6;

function foundOf({ preview }: Trial, now: number, again?: string): Html {
  if (preview === undefined) return html`<div id="try-found"></div>`;
  const { by_keyword: keywords, by_subreddit: subreddits, samples, suggestions, exact, capped_days: capped } = preview;
  return html`<div id="try-found">
    ${!exact && html`<p>There may be more: there was not enough time to read the whole archive.</p>`}
    ${capped.length > 0 && notice('bad', `Daily cap reached on ${capped.join(', ')}: further matches would not be sent.`)}
    ${byDay(preview, now)} ${counts('By keyword', keywords, ({ keyword }) => keyword)}
    ${counts('By community', subreddits, ({ subreddit }) => `r/${subreddit}`)}
    ${
      suggestions.length > 0 &&
      html`<h3>Suggestions</h3>
        <ul class="plain">
          ${suggestions.slice(0, SHOWN).map((one) => suggestionLine(one, again))}
        </ul>`
    }
    ${
      samples.length > 0 &&
      html`<h3>The newest</h3>
        <ul class="plain samples">
          ${samples.slice(0, SHOWN).map(sampleEntry)}
        </ul>`
    }
  </div>`;
}

/** Every UTC day that was read, also those without matches. */
function byDay(preview: PreviewAnswer, now: number): HtmlValue {
  const from = countedFrom(preview);
  if (from === undefined || preview.total === 0) return undefined;
  const counted = new Map(preview.by_day.map(({ day, count }) => [day, count]));
  const days: string[] = [];
  for (let at = Date.parse(from.slice(0, 10)); at <= now; at += DAY_MS)
    days.push(new Date(at).toISOString().slice(0, 10));
  const most = Math.max(1, ...counted.values());
  return html`<h3>By day (UTC)</h3>
    <ol class="spark">
      ${days.map((day) => dayBar(day, counted.get(day) ?? 0, most))}
    </ol>`;
}

const DAY_NAME = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

function dayBar(day: string, count: number, most: number): Html {
  const height = share(count, most);
  return html`<li>
    <span class="count">${number(count)}</span>
    <svg aria-hidden="true" focusable="false"><rect y="${100 - height}%" width="100%" height="${height}%" /></svg>
    <span class="day">${DAY_NAME.format(new Date(day))}</span>
  </li>`;
}

/** In whole percent. What is not zero is seen. */
const share = (count: number, most: number): number =>
  count === 0 ? 0 : Math.max(2, Math.round((100 * count) / most));

function counts<T extends { count: number }>(title: string, all: readonly T[], nameOf: (one: T) => string): HtmlValue {
  if (all.length === 0) return undefined;
  const most = Math.max(...all.map(({ count }) => count));
  const entries = all.slice(0, SHOWN).map(
    (one) =>
      html`<li>
        <span class="name">${nameOf(one)}</span> <span class="count">${number(one.count)}</span>
        <svg aria-hidden="true" focusable="false"><rect width="${share(one.count, most)}%" height="100%" /></svg>
      </li>`,
  );
  return html`<h3>${title}</h3>
    <ul class="counts">
      ${entries}
    </ul>
    ${all.length > SHOWN && html`<p class="note">and ${number(all.length - SHOWN)} more</p>`}`;
}

/** The field that a suggestion fills. A community can only be left out: watching it alone would replace the rule. */
const FIELDS = {
  exclude: 'exclude',
  keyword: 'keywords',
  variant: 'keywords',
  subreddit: 'exclude_subreddits',
} as const;
const BUTTONS = { exclude: 'Exclude', keyword: 'Add', variant: 'Add', subreddit: 'Leave out' } as const;

function suggestionLine({ kind, value, message }: Suggestion, again: string | undefined): Html {
  const target = again !== undefined && html`formaction="${again}"`;
  return html`<li>
    <p>${message}</p>
    <button class="quiet" name="add" value="${FIELDS[kind]} ${value}" ${target}>${BUTTONS[kind]} “${value}”</button>
  </li>`;
}

function sampleEntry(sample: PreviewSample): Html {
  const { kind, subreddit, title, body, highlights } = sample;
  const rangesIn = (wanted: string) => highlights.filter(({ field }) => field === wanted);
  return html`<li>
    <p class="title">${forumLink(sample, markedText(title, rangesIn(kind === 'post' ? 'title' : 'post_title')))}</p>
    ${body !== '' && html`<p>${markedExcerpt(body, rangesIn('body'))}</p>`}
    <p class="note">${kind} in r/${subreddit}, ${minuteOf(sample.first_seen_at)}</p>
  </li>`;
}
