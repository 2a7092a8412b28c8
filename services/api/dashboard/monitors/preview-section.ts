import type { PreviewAnswer, PreviewSample, Suggestion } from '../../../../schemas/api/monitors/preview.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../shared/html/html.ts';
import { markedExcerpt, markedText } from './matches/marked-text.ts';

/** Shown of each list; the API has all. */
const SHOWN = 8;

/** What the rule in a form would have found. It stands in the form: a suggestion is a button that fills a field. */
export function previewSection(preview: PreviewAnswer | undefined): HtmlValue {
  if (preview === undefined) return undefined;
  const { by_day: days, by_keyword: keywords, by_subreddit: subreddits, samples, suggestions } = preview;
  return html`<section id="preview" aria-label="What it would have found">
    <h2>What it would have found</h2>
    ${totals(preview)}
    ${counts(
      'By day (UTC)',
      days.map(({ day, count }) => [day, count]),
    )}
    ${counts(
      'By keyword',
      keywords.map(({ keyword, count }) => [keyword, count]),
    )}
    ${counts(
      'By community',
      subreddits.map(({ subreddit, count }) => [`r/${subreddit}`, count]),
    )}
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
      <strong>${total.toLocaleString('en')} ${total === 1 ? 'match' : 'matches'}</strong> since ${since}.
      ${!exact && 'There is more: the archive was not read to the end in time.'} 30 days cost ${credits} credits.
    </p>
    ${
      capped.length > 0 &&
      html`<p class="notice bad">
        More than your plan's daily cap on ${capped.join(', ')}: the rest would not be sent.
      </p>`
    }`;
}

function counts(title: string, entries: readonly (readonly [string, number])[]): HtmlValue {
  return (
    entries.length > 0 &&
    html`<p>
      <strong>${title}:</strong> ${entries
        .slice(0, SHOWN)
        .map(([name, count]) => `${name} ${count.toLocaleString('en')}`)
        .join(', ')}${entries.length > SHOWN && ' …'}
    </p>`
  );
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
