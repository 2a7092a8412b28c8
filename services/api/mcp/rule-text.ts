import type { ExplainedTerm, ItemExplanation, PreviewAnswer, RuleExplanation } from '../../../schemas/api/rules.ts';
import type { Timeseries } from '../../../schemas/api/trends.ts';
import { inlineText } from '../reading/untrusted-text.ts';

/** An explanation in few lines: the verdict, the terms, what filters reject, and the history. */
export function explanationText(explanation: ItemExplanation | RuleExplanation): string {
  const { matched, terms, require = [], excludes, filters, history } = explanation;
  const failed = filters.filter(({ passed }) => !passed).map(({ filter }) => filter);
  return [
    matched === null ? 'Its content is not known.' : matched ? 'It matches the rule.' : 'It does not match the rule.',
    ...terms.map((term) => `- ${termText(term)}`),
    ...require.flatMap((group, number) =>
      group.terms.map((term) => `- required group ${number + 1}: ${termText(term)}`),
    ),
    ...excludes.map((term) => `- excluded: ${termText(term)}`),
    ...(failed.length === 0 ? [] : [`Rejected by: ${failed.join(', ')}`]),
    ...history.map(({ at, message }) => `${at ?? 'then'}: ${inlineText(message)}`),
  ].join('\n');
}

function termText({ term, matched, positions, nearest }: ExplainedTerm): string {
  const places = positions.map(({ field, start, end }) => `${field} ${start}–${end}`).join(', ');
  const why = nearest === null ? '' : ` ${inlineText(nearest.message)}`;
  return matched ? `${inlineText(term)}: in ${places}` : `${inlineText(term)}: not in it.${why}`;
}

/** Samples shown as text; the structured answer has all. */
const SHOWN = 5;
const EXCERPT = 200;

/** A preview in few lines: how many, when, where, the newest ones, and what to think about. */
export function previewText(preview: PreviewAnswer): string {
  const { total, exact, exact_from: from, by_day: days, by_keyword: keywords, by_subreddit: subreddits } = preview;
  const counted = (entries: [string, number][]): string =>
    entries.map(([name, count]) => `${name} ${count}`).join(', ');
  const listed = (label: string, entries: [string, number][]): string[] =>
    entries.length === 0 ? [] : [`${label}: ${counted(entries.slice(0, 10))}`];
  return [
    `${total} matches since ${from}${exact ? '' : '; older ones were not counted in time'}.`,
    ...listed(
      'By day',
      days.map(({ day, count }) => [day, count]),
    ),
    ...listed(
      'By keyword',
      keywords.map(({ keyword, count }) => [inlineText(keyword), count]),
    ),
    ...listed(
      'By community',
      subreddits.map(({ subreddit, count }) => [`r/${subreddit}`, count]),
    ),
    ...(preview.capped_days.length === 0 ? [] : [`Beyond the daily cap on: ${preview.capped_days.join(', ')}`]),
    `30 days cost ${preview.credits_per_30_days} credits.`,
    ...preview.warnings.map(({ message }) => `Warning: ${inlineText(message)}`),
    ...preview.suggestions.map(({ kind, message }) => `Suggestion (${kind}): ${inlineText(message)}`),
    ...preview.samples.slice(0, SHOWN).map((sample) => `- ${sampleText(sample)}`),
  ].join('\n');
}

function sampleText({ kind, subreddit, title, body, permalink }: PreviewAnswer['samples'][number]): string {
  const text = kind === 'post' ? `${title} ${body}` : body;
  return `r/${subreddit} ${permalink}: ${inlineText(text.slice(0, EXCERPT).toWellFormed())}`;
}

/** The structured answer has all of them. */
const LINES = 200;

/** Spikes first, then the newest counts, one a line. */
export function timeseriesText({ interval, from, to, items, truncated, spikes }: Timeseries): string {
  const shown = items.slice(-LINES);
  return [
    `By ${interval}, ${from} to ${to}.`,
    ...spikes.map(
      ({ at, count, median, score }) => `Spike at ${at}: ${count} matches, usually ${median} (score ${score}).`,
    ),
    ...(shown.length === 0 ? ['No matches.'] : []),
    ...(truncated || shown.length < items.length ? ['Older counts are left out.'] : []),
    ...shown.map(({ at, keyword, subreddit, count }) => {
      const of = [keyword === null ? '' : inlineText(keyword), subreddit === null ? '' : `r/${inlineText(subreddit)}`];
      return [`${at}: ${count}`, ...of.filter((part) => part !== '')].join(' · ');
    }),
  ].join('\n');
}
