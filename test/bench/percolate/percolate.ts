/**
 * `--monitors FILE --items FILE`: matches every item (as a comment) with all monitors, in one pass over items that are
 * in memory, in a process that runs as the services do, and reports the speed of the first 500 of them too. `--generate
 * FOLDER [--monitors-count N] [--items-count N] [--sparse]`: writes two such files, with about 193 matches an item for
 * 100,000 monitors, or 30. The files are JSON lines: {"id": "m1", "keywords": [], "exclude": []} and {"text": ""}.
 */
import { parseArgs } from 'node:util';
import { MonitorIndex } from '../../../shared/matching/monitor-index.ts';
import type { MatchItem, Rule } from '../../../shared/matching/rule.ts';
import type { Report } from '../main.ts';
import { isRunAsService, runAsService } from '../shared/as-service.ts';
import { commentOf } from '../shared/matcher-items.ts';
import { unfilteredRule } from '../shared/matcher-monitors.ts';
import { seededRandom } from '../shared/matcher-random.ts';
import { readItems, readMonitors, Unusable } from './percolate-files.ts';
import { generateFiles } from './generate.ts';
import type { GenerateOptions } from './generate.ts';
import { percentiles } from '../shared/percentiles.ts';

const USAGE = `Usage: npm run --silent bench -- percolate --monitors FILE --items FILE
       npm run --silent bench -- percolate --generate FOLDER [--monitors-count N] [--items-count N] [--sparse]`;
const UPDATED_MONITORS = 2_000;
/** So many items are the first ones. */
const FIRST_ITEMS = 500;
const PROGRESS_MS = 5_000;

/** A monitor that is updated later. */
interface Drawn {
  id: string;
  number: number;
  rule: Rule;
}

export default async function benchPercolate(report: Report, args: string[]): Promise<void> {
  try {
    const options = parseOptions(args);
    if (!isRunAsService()) return await runAsService();
    report('folder' in options ? await generateFiles(options.folder, options) : await percolate(options));
  } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    // This is a mistake of the user, so the message suffices. main.ts would end the process with 0.
    console.error(error.message);
    process.once('exit', () => (process.exitCode = 1));
  }
}

type Options = { monitorsFile: string; itemsFile: string } | ({ folder: string } & GenerateOptions);

function parseOptions(args: string[]): Options {
  const { values } = parsedOrUsage(args);
  if (values.generate !== undefined) {
    if (values.monitors !== undefined || values.items !== undefined) throw new Unusable(USAGE);
    const [monitors, items] = [values['monitors-count'], values['items-count']].map((text) => {
      if (!/^[1-9]\d{0,7}$/.test(text)) throw new Unusable(`${text} is no number from 1 to 99,999,999\n${USAGE}`);
      return Number(text);
    });
    return { folder: values.generate, monitors: monitors!, items: items!, sparse: values.sparse };
  }
  if (values.monitors === undefined || values.items === undefined) throw new Unusable(USAGE);
  return { monitorsFile: values.monitors, itemsFile: values.items };
}

function parsedOrUsage(args: string[]) {
  try {
    const options = {
      monitors: { type: 'string' },
      items: { type: 'string' },
      generate: { type: 'string' },
      'monitors-count': { type: 'string', default: '100000' },
      'items-count': { type: 'string', default: '100000' },
      sparse: { type: 'boolean', default: false },
    } as const;
    return parseArgs({ args, options });
  } catch (error) {
    throw new Unusable(`${(error as Error).message}\n${USAGE}`, { cause: error });
  }
}

async function percolate({ monitorsFile, itemsFile }: { monitorsFile: string; itemsFile: string }): Promise<object> {
  const items: MatchItem[] = [];
  let units = 0;
  for await (const text of readItems(itemsFile)) {
    items.push(commentOf(text));
    units += text.length;
  }
  const { index, loadMs, drawn } = await loadMonitors(monitorsFile);
  const { seconds, firstSeconds, matches, sumOfIds } = matchAll(index, items);
  const { p50, p99 } = percentiles(updateAll(index, drawn));
  return {
    monitors: index.size,
    items: items.length,
    text_mb: Number((units / 1e6).toFixed(2)),
    seconds: Number(seconds.toFixed(3)),
    items_per_s: Math.round(items.length / seconds),
    first_items_per_s: Math.round(Math.min(items.length, FIRST_ITEMS) / firstSeconds),
    matches,
    sum_of_ids: sumOfIds,
    load_ms: Math.round(loadMs),
    update_p50_us: p50,
    update_p99_us: p99,
    rss_mb: Math.round(process.memoryUsage.rss() / 2 ** 20),
  };
}

/** The last monitor with an id counts. Measures only the index, without reading the file. */
async function loadMonitors(file: string): Promise<{ index: MonitorIndex<number>; loadMs: number; drawn: Drawn[] }> {
  const index = new MonitorIndex<number>();
  const random = seededRandom(7);
  const drawn: Drawn[] = [];
  const progress = new Progress('monitors loaded');
  let loadMs = 0;
  let count = 0;
  for await (const { id, number, keywords, exclude } of readMonitors(file)) {
    const rule = unfilteredRule(keywords, exclude);
    const begun = performance.now();
    index.set(id, rule, number);
    loadMs += performance.now() - begun;
    count++;
    // Each of the monitors so far has been drawn with the same probability (reservoir sampling).
    const slot = drawn.length < UPDATED_MONITORS ? drawn.length : Math.floor(random() * count);
    if (slot < UPDATED_MONITORS) drawn[slot] = { id, number, rule };
    progress.show(count);
  }
  return { index, loadMs, drawn };
}

function matchAll(index: MonitorIndex<number>, items: readonly MatchItem[]) {
  const progress = new Progress('items matched');
  let matches = 0;
  let sumOfIds = 0;
  const visit = (_: string, number: number) => {
    matches++;
    sumOfIds += number;
  };
  const begun = performance.now();
  const secondsSinceBegin = () => (performance.now() - begun) / 1000;
  let firstSeconds: number | undefined;
  for (const [position, item] of items.entries()) {
    if (position === FIRST_ITEMS) firstSeconds = secondsSinceBegin();
    index.forEachMatch(item, visit);
    if (position % 1_000 === 0) progress.show(position);
  }
  const seconds = secondsSinceBegin();
  return { seconds, firstSeconds: firstSeconds ?? seconds, matches, sumOfIds };
}

/** Returns the microseconds of each update: each monitor is replaced by itself, removed and added. */
function updateAll(index: MonitorIndex<number>, drawn: readonly Drawn[]): number[] {
  const timed = (call: () => void) => {
    const begun = performance.now();
    call();
    return (performance.now() - begun) * 1000;
  };
  return drawn.flatMap(({ id, number, rule }) => [
    timed(() => index.set(id, rule, number)),
    timed(() => index.remove(id)),
    timed(() => index.set(id, rule, number)),
  ]);
}

/** Reports the progress on stderr every few seconds. */
class Progress {
  private readonly what: string;
  private next = performance.now() + PROGRESS_MS;

  constructor(what: string) {
    this.what = what;
  }

  show(count: number): void {
    if (performance.now() < this.next) return;
    console.error(`${count} ${this.what}`);
    this.next = performance.now() + PROGRESS_MS;
  }
}
