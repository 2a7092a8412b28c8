import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { fetchThings } from '../../support/clients/emitted-items.ts';
import type { EmittedItem } from '../../support/clients/emitted-items.ts';
import { wordPattern, wordsIn } from '../../support/oracles/naive-word-search.ts';
import type { Thing } from '../../support/oracles/naive-word-search.ts';
import { percentiles } from '../shared/percentiles.ts';
import type { Recorded } from '../../support/oracles/recorded-matches.ts';
import type { SoakEndpoints } from './soak-endpoints.ts';
import type { SoakMonitor } from './soak-monitors.ts';

/** A line of the simulator's log, with the texts as it first showed them. */
type LoggedItem = EmittedItem & { title?: string; text: string };

export interface Expected {
  /** Items that were compared. */
  items: number;
  /** `MONITOR THING`. */
  pairs: Set<string>;
}

/** What unedited monitors must have found among the items that were created in a span, by a naive search. */
export async function expectedPairs(
  log: string,
  monitors: readonly SoakMonitor[],
  span: { from: number; to: number },
): Promise<Expected> {
  const places = new Map<string, SoakMonitor[]>();
  for (const monitor of monitors) {
    if (!monitor.isEdited) places.set(monitor.subreddit, [...(places.get(monitor.subreddit) ?? []), monitor]);
  }
  const patterns = new Map(monitors.map(({ keyword }) => [keyword, wordPattern(keyword)]));
  const expected: Expected = { items: 0, pairs: new Set() };
  for await (const line of createInterface(createReadStream(log))) {
    const item = JSON.parse(line) as LoggedItem;
    if (item.at < span.from || item.at > span.to || item.visible_at > span.to) continue;
    expected.items++;
    const watching = places.get(item.subreddit.toLowerCase());
    if (watching === undefined) continue;
    const words = new Set(wordsIn(thingOf(item), patterns));
    for (const { id, keyword } of watching) if (words.has(keyword)) expected.pairs.add(`${id} ${item.name}`);
  }
  return expected;
}

function thingOf({ kind, title, text }: LoggedItem): Thing {
  return kind === 'post' ? { kind: 't3', data: { title, selftext: text } } : { kind: 't1', data: { body: text } };
}

/** What is wrong with what was recorded and received. */
export async function compare(
  expected: Expected,
  all: { recorded: readonly Recorded[]; monitors: readonly SoakMonitor[]; endpoints: SoakEndpoints; simulator: string },
): Promise<object> {
  const { recorded, endpoints } = all;
  const pairs = new Set(recorded.map(({ monitorId, thingId }) => `${monitorId} ${thingId}`));
  const lost = [...expected.pairs].filter((pair) => !pairs.has(pair));
  const byId = new Map(all.monitors.map((monitor) => [monitor.id, monitor]));
  const due = recorded.filter(({ monitorId, suppressed }) => {
    const monitor = byId.get(monitorId)!;
    return !suppressed && !monitor.isEdited && endpoints.isHealthy(monitor.endpoint);
  });
  const known = await fetchThings(all.simulator, [...new Set(lost.map((pair) => pair.split(' ')[1]!))].slice(0, 100));
  return {
    items: expected.items,
    expected: expected.pairs.size,
    recorded: recorded.length,
    lost: lost.length,
    lost_first: lost.slice(0, 5).map((pair) => [pair, byId.get(pair.split(' ')[0]!), known.get(pair.split(' ')[1]!)]),
    twice: recorded.length - pairs.size,
    holes: holesIn(recorded),
    webhooks_due: due.length,
    webhooks_missing: due.filter(({ id }) => !endpoints.arrivals.has(id)).length,
    requests: endpoints.counts,
  };
}

function holesIn(recorded: readonly Recorded[]): number {
  const next = new Map<string, number>();
  let holes = 0;
  for (const { monitorId, seq } of recorded) {
    if (seq !== (next.get(monitorId) ?? 1)) holes += 1;
    next.set(monitorId, seq + 1);
  }
  return holes;
}

/** Spans of time, in milliseconds since the epoch. */
type Span = readonly [number, number];

/**
 * From the append of an item to the first request of its match: around restarts, in peaks, and otherwise by tenths; and
 * outside restarts its two parts, before and after the match was recorded.
 */
export function latencies(
  recorded: readonly Recorded[],
  arrivals: ReadonlyMap<string, number>,
  { restarts, peaks, whole }: { restarts: readonly Span[]; peaks: readonly Span[]; whole: Span },
): object[] {
  const groups = new Map<string, number[]>();
  const isIn = (spans: readonly Span[], at: number) => spans.some(([from, to]) => at >= from && at < to);
  const add = (name: string, time: number) => {
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name)!.push(time);
  };
  for (const { id, enteredAt, recordedAt } of recorded) {
    const arrived = arrivals.get(id);
    if (arrived === undefined) continue;
    const tenth = Math.min(9, Math.max(0, Math.floor((10 * (enteredAt - whole[0])) / (whole[1] - whole[0]))));
    if (isIn(restarts, enteredAt)) {
      add('around restarts', arrived - enteredAt);
      continue;
    }
    const names = [isIn(peaks, enteredAt) ? 'peaks' : 'no peak', `tenth ${tenth + 1}`, 'outside restarts'];
    for (const name of names) add(name, arrived - enteredAt);
    add('outside restarts, to the record', recordedAt - enteredAt);
    add('outside restarts, from the record', arrived - recordedAt);
  }
  const ordered = [...groups].toSorted(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
  return ordered.map(([when, times]) => ({
    run: 'append to webhook, ms',
    when,
    webhooks: times.length,
    ...percentiles(times),
  }));
}
