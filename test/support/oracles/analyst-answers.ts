import type { RecordedMatch } from '../../../schemas/messages/recorded-match.ts';
import { DAY, MONITORS, iso, wire } from '../samples/analyst-rows.ts';
import type { PublishedRows } from '../samples/analyst-rows.ts';

/** The matches that the views contain. */
export function keptMatches({ matches }: PublishedRows): RecordedMatch[] {
  return matches.filter(({ created_at }) => within(created_at, 30 * DAY));
}

/** A match's author and text, if the archive has them. */
export function archivedContent(published: PublishedRows, match: RecordedMatch): { author: string; body: string } {
  if (match === published.removed) return { author: '[deleted]', body: '' };
  return match === published.unknown ? { author: '', body: '' } : { author: match.item.author, body: match.item.body };
}

function within(time: string, ms: number): boolean {
  return Date.parse(time) > Date.now() - ms;
}

function notRemoved(published: PublishedRows): RecordedMatch[] {
  return keptMatches(published).filter((match) => match !== published.removed);
}

/** From creation to first sight. */
export function lagSeconds({ created_utc, first_seen_at }: { created_utc: string; first_seen_at: string }): number {
  return (Date.parse(first_seen_at) - Date.parse(created_utc)) / 1_000;
}

function dayOf(time: string): string {
  return time.slice(0, 10);
}

/** The first of the seven days that end today. */
function weekBegan(): string {
  return dayOf(iso(Date.now() - 6 * DAY));
}

function grouped<T>(list: readonly T[], key: (entry: T) => string): [string, T[]][] {
  return [...Map.groupBy(list, key)];
}

function quantile(values: number[], level: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(level * sorted.length))] ?? null;
}

/** Compares by the first key that differs. */
export function byKeys<T>(...keys: ((entry: T) => number | string)[]): (a: T, b: T) => number {
  return (a, b) => {
    for (const key of keys) if (key(a) !== key(b)) return key(a) < key(b) ? -1 : 1;
    return 0;
  };
}

/** The expected result of each query of the README, computed from the published rows. */
export const EXPECTED: Record<string, (published: PublishedRows) => unknown[]> = {
  'the newest matches': (published) =>
    notRemoved(published)
      .filter(({ monitor_id }) => monitor_id === MONITORS[0])
      .sort(byKeys(({ seq }) => -seq))
      .slice(0, 20)
      .map((match) => ({
        created_at: wire(match.created_at),
        subreddit: match.item.subreddit,
        title: match.item.title,
        matched_terms: match.matched_terms,
        permalink: match.item.permalink,
        ...archivedContent(published, match),
      })),
  'the commonest terms': (published) =>
    grouped(
      keptMatches(published)
        .filter(({ created_at }) => dayOf(created_at) >= weekBegan())
        .flatMap((match) => match.matched_terms.map((term) => ({ term, match }))),
      ({ term }) => term,
    )
      .map(([term, found]) => ({
        term,
        found: found.filter(({ match }) => !match.suppressed).length,
        monitors: new Set(found.map(({ match }) => match.monitor_id)).size,
      }))
      .sort(
        byKeys(
          ({ found }) => -found,
          ({ term }) => term,
        ),
      ),
  'communities of a term': (published) =>
    grouped(
      notRemoved(published).filter(({ matched_terms }) => matched_terms.includes('rust')),
      ({ item }) => item.subreddit,
    )
      .map(([subreddit, found]) => ({
        subreddit,
        found: found.length,
        authors: new Set(found.map((match) => archivedContent(published, match).author)).size,
      }))
      .sort(
        byKeys(
          ({ found }) => -found,
          ({ subreddit }) => subreddit,
        ),
      ),
  'matches by hour': (published) =>
    grouped(
      keptMatches(published).filter(({ created_at }) => within(created_at, DAY)),
      ({ created_at }) => `${wire(created_at).slice(0, 13)}:00:00`,
    )
      .map(([hour, found]) => ({
        hour,
        found: found.length,
        suppressed_ones: found.filter(({ suppressed }) => suppressed).length,
      }))
      .sort(byKeys(({ hour }) => hour)),
  'how fast': (published) =>
    grouped(
      published.attempts.filter(({ started_at }) => dayOf(started_at) >= weekBegan()),
      ({ started_at, host }) => `${dayOf(started_at)} ${host}`,
    )
      .map(([, found]) => {
        const first = found.filter(({ delivery_status, attempt }) => delivery_status === 'delivered' && attempt === 1);
        const durations = found.map(({ duration_ms }) => duration_ms);
        const after = first.flatMap((made) => {
          const match = published.matches.find(({ match_id }) => match_id === made.match_id)!;
          if (match.backfill === true) return [];
          return [Date.parse(made.started_at) + made.duration_ms - Date.parse(match.entered_at)];
        });
        return {
          day: dayOf(found[0]!.started_at),
          webhook_kind: found[0]!.webhook_kind,
          host: found[0]!.host,
          attempts: found.length,
          matches_delivered: first.length,
          duration_p50_ms: quantile(durations, 0.5),
          duration_p99_ms: quantile(durations, 0.99),
          entered_to_delivered_p50_ms: quantile(after, 0.5),
          entered_to_delivered_p95_ms: quantile(after, 0.95),
        };
      })
      .sort(
        byKeys(
          ({ day }) => -Date.parse(day),
          ({ attempts: made }) => -made,
          ({ host }) => host,
        ),
      ),
  'receivers in trouble': (published) => {
    const bad = published.attempts.filter(
      ({ host, started_at }) => host === 'bad.example.com' && within(started_at, DAY),
    );
    const last = bad.toSorted(byKeys(({ started_at }) => -Date.parse(started_at)))[0]!;
    return [
      {
        host: 'bad.example.com',
        webhook_kind: 'generic',
        attempts: bad.length,
        failures: bad.length,
        share: 1,
        last_error: last.error,
        last_failure_status: last.status,
        last_success_at: null,
      },
    ];
  },
  'lag by source': (published) =>
    grouped(
      published.items.filter(({ first_seen_at }) => within(first_seen_at, DAY)),
      ({ source, kind }) => `${source} ${kind}`,
    )
      .map(([, found]) => {
        const lags = found.map(lagSeconds);
        return {
          source: found[0]!.source,
          kind: found[0]!.kind,
          items: found.length,
          late_share: Math.round((1_000 * lags.filter((lag) => lag > 120).length) / lags.length) / 1_000,
          lag_p50_seconds: quantile(lags, 0.5),
          lag_p95_seconds: quantile(lags, 0.95),
        };
      })
      .sort(
        byKeys(
          ({ items }) => -items,
          ({ source }) => source,
        ),
      ),
  languages: (published) => {
    const languages = new Map(published.items.map(({ thing_id, language }) => [thing_id, language]));
    return grouped(
      notRemoved(published).filter(({ monitor_id }) => monitor_id === MONITORS[0]),
      ({ item }) => languages.get(item.thing_id) ?? '',
    )
      .map(([language, found]) => ({ language, found: found.length }))
      .sort(
        byKeys(
          ({ found }) => -found,
          ({ language }) => language,
        ),
      );
  },
  'coverage by hour': ({ coverage }) =>
    coverage
      .filter(({ hour }) => within(hour, 2 * DAY))
      .map((row) => ({
        hour: wire(row.hour).slice(0, 19),
        posts: row.posts,
        comments: row.comments,
        late: row.late,
        completeness: row.comment_completeness,
        low: row.comment_completeness_low,
        high: row.comment_completeness_high,
        audited_threads: row.audited_threads,
      })),
  'what each monitor found': (published) =>
    grouped(
      keptMatches(published).filter(({ created_at }) => within(created_at, 7 * DAY)),
      ({ monitor_id }) => monitor_id,
    )
      .map(([monitorId, matches]) => ({
        monitor_name: `monitor ${MONITORS.indexOf(monitorId as (typeof MONITORS)[number])}`,
        found: matches.length,
        suppressed_ones: matches.filter(({ suppressed }) => suppressed).length,
        last_found: wire(
          matches
            .map(({ created_at }) => created_at)
            .sort()
            .at(-1)!,
        ),
      }))
      .sort(
        byKeys(
          ({ found }) => -found,
          ({ monitor_name }) => monitor_name,
        ),
      ),
  'the gaps of a week': ({ gaps }) =>
    gaps
      .filter(({ opened_at, closed_at }) => within(opened_at, 7 * DAY) && closed_at !== null)
      .map(({ source, reason, opened_at, closed_at, outcome, found }) => ({
        source,
        reason,
        opened_at: wire(opened_at),
        outcome,
        seconds: (Date.parse(closed_at!) - Date.parse(opened_at)) / 1_000,
        found,
      })),
};
