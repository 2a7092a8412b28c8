import type { RuleWarning } from '../../../../schemas/api/monitors.ts';
import type { PreviewAnswer, PreviewProgress, PreviewSample, Suggestion } from '../../../../schemas/api/rules.ts';
import { dailyMatchCap, dollarsOf } from '../../../../shared/billing/rules/plans.ts';
import { html } from '../../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../../shared/http/html.ts';
import { lastIntervals, rankChart, timeChart } from '../charts.ts';
import type { FieldProblems, PageRequest } from '../page.ts';
import { list, notice, number, paceInWords, problemLinks } from '../parts.ts';
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
  /** Whether the monitor has mutes, which no preview applies. */
  hasMutes?: boolean;
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
export function trialParts(request: PageRequest, trial: Trial): Html {
  return html`${trialLine(trial, request)} ${ruleOf(trial)}
  ${trial.progress === undefined && foundOf(trial, request.now)}`;
}

/** Announced when it changes; it stays in view. */
export const trialLine = (trial: Trial, request: PageRequest): Html =>
  html`<div class="try-line" id="try-line" role="status">
    ${stateOf(trial, request)} ${trial.progress === undefined && hasMore(trial) && MORE}
  </div>`;

const hasMore = ({ words, problems }: Trial): boolean => words !== undefined || problems !== undefined;
/** Where the panel is not in view. */
const MORE = html`<a class="try-more" href="#preview">Details</a>`;

function stateOf(trial: Trial, request: PageRequest): HtmlValue {
  const { words, problems, progress, refusal, preview, hasMutes = false } = trial;
  if (preview !== undefined) return totals(preview, request, hasMutes);
  if (problems !== undefined) return 'The rule is not complete yet.';
  if (refusal !== undefined) return html`<span class="bad">${refusal.message}</span>`;
  if (progress !== undefined) return progressOf(progress, request.now);
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

function totals(preview: PreviewAnswer, { now, account }: PageRequest, hasMutes: boolean): Html {
  const { total, credits_per_30_days: credits } = preview;
  const cost = html`Costs ${number(credits)} credits in 30 days (about $${dollarsOf(credits, account.pack)}).`;
  const from = countedFrom(preview);
  if (from === undefined) return html`The archive is still empty, so there is nothing to count. ${cost}`;
  const rate = rateOf(total, (now - Date.parse(from)) / DAY_MS, dailyMatchCap(account.pack));
  return html`<strong>${matchesOf(total)}</strong> ${hasMutes && 'before its mutes'} since ${minuteOf(from)}${rate}.
    ${cost}`;
}

/** @param cap matches that are sent a day */
function rateOf(total: number, days: number, cap: number): HtmlValue {
  const pace = paceInWords(total, days);
  if (pace === '') return '';
  const perDay = Math.round(total / days);
  if (perDay * 3 <= cap) return `, ${pace}`;
  const most = `at most ${number(cap)} a day are sent`;
  return html`, ${pace}; ${perDay > cap ? html`<strong class="bad">${most}</strong>` : most}`;
}

/** The later one of the beginnings of the count and of the archive; undefined for an empty archive. */
function countedFrom({ exact_from: from, archive_from: start }: PreviewAnswer): string | undefined {
  return start === null ? undefined : start > from ? start : from;
}

function ruleOf({ words = [], warnings = [], problems, preview }: Trial): Html {
  const cautions = preview?.warnings ?? warnings;
  return html`<div id="try-rule">
    ${problems !== undefined && problemLinks(problems)}
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

/** Entries shown of each list; the API has all. */
const SHOWN = 6;

function foundOf({ preview }: Trial, now: number, again?: string): Html {
  if (preview === undefined) return html`<div id="try-found"></div>`;
  const { by_keyword: keywords, by_subreddit: subreddits, samples, suggestions, exact, capped_days: capped } = preview;
  return html`<div id="try-found">
    ${!exact && html`<p>There may be more: there was not enough time to read the whole archive.</p>`}
    ${capped.length > 0 && notice('bad', `Daily cap reached on ${capped.join(', ')}: further matches would not be sent.`)}
    ${byDay(preview, now)} ${counts('Matches by keyword', keywords, ({ keyword }) => keyword)}
    ${counts('Matches by community', subreddits, ({ subreddit }) => `r/${subreddit}`)}
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
  const counted = new Map(preview.by_day.map(({ day, count }) => [Date.parse(day), count]));
  const points = lastIntervals('day', Math.floor(now / DAY_MS) - Math.floor(Date.parse(from) / DAY_MS) + 1, now);
  const series = [{ name: 'matches', tone: 1, values: points.map((at) => counted.get(at) ?? 0) }] as const;
  return timeChart({
    caption: 'Matches by day (UTC)',
    unit: 'matches',
    interval: 'day',
    kind: 'stacked bars',
    points,
    series,
  });
}

function counts<T extends { count: number }>(caption: string, all: readonly T[], nameOf: (one: T) => string) {
  if (all.length === 0) return undefined;
  const rows = all.slice(0, SHOWN).map((one) => ({ label: nameOf(one), value: one.count }));
  const more = all.length > SHOWN && html`<p class="note">and ${number(all.length - SHOWN)} more</p>`;
  return rankChart({ caption, unit: 'matches', rows, more });
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
