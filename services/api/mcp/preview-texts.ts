import type { PreviewAnswer } from '../../../schemas/api/monitors/preview.ts';
import { inlineText } from '../reading/comments/inline-text.ts';

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
