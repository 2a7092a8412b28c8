type Json = Record<string, unknown>;

/** A point: `x`, and the value of each line's field. */
export type Figures = Record<string, number> & { x: number };

export interface Line {
  name: string;
  field: string;
  unit: string;
}

export interface Curve {
  /** Of its files. */
  name: string;
  title: string;
  x: { label: string; values: number[] };
  /** At most two different units. */
  lines: Line[];
  /** The benchmark and its arguments at `x`. */
  command: (x: number) => string[];
  /** The fields of a point, from the benchmark's lines. @throws Error when one is missing */
  read: (lines: readonly Json[]) => Record<string, number>;
}

/** Items of a replay through the whole pipeline. */
const REPLAYED = '150000';

/** How the product behaves as it grows. What bends a curve is said in ../README.md. */
export const CURVES: readonly Curve[] = [
  {
    name: 'matcher',
    title: 'Matching items against more monitors of 20 keywords',
    x: { label: 'monitors', values: [1_000, 10_000, 100_000, 300_000, 1_000_000] },
    lines: [
      { name: 'items per second of processor time', field: 'items_per_cpu_s', unit: 'items/s' },
      { name: 'memory of the process', field: 'rss_mb', unit: 'MB' },
    ],
    command: (x) => ['matcher', '--only', 'pipeline', '--monitors', String(x)],
    read: (lines) => pick(lines, { case: 'pipeline' }, { items_per_cpu_s: 'items_per_cpu_s', rss_mb: 'rss_mb' }),
  },
  {
    name: 'recorder',
    title: 'Recording beside more stored matches',
    x: { label: 'stored matches', values: [1_000_000, 10_000_000, 50_000_000] },
    lines: [
      { name: 'recorder, batches of 2,000', field: 'recorder', unit: 'matches/s' },
      { name: 'bare writes, batches of 500', field: 'bare', unit: 'matches/s' },
    ],
    command: (x) => ['recorder', '--stored', String(x)],
    read: (lines) => ({
      ...pick(
        lines,
        { what: 'recorder', batch: 2_000 },
        {
          recorder: 'candidates_per_s',
          wal_bytes: 'per_candidate.wal_bytes',
          full_page_images: 'per_candidate.full_page_images',
          blocks_read: 'per_candidate.blocks_read',
        },
      ),
      ...pick(lines, { what: 'bare writes', batch: 500 }, { bare: 'candidates_per_s' }),
    }),
  },
  {
    name: 'search',
    title: 'Searching more archived items',
    x: { label: 'archived items', values: [1_000_000, 10_000_000, 30_000_000] },
    lines: [
      { name: 'preview of one keyword, p50', field: 'p50', unit: 'ms' },
      { name: 'p95', field: 'p95', unit: 'ms' },
      { name: 'bare count() of the word, p50', field: 'bare', unit: 'ms' },
    ],
    command: (x) => ['preview', '--items', String(x)],
    read: (lines) =>
      pick(
        lines,
        { group: 'one keyword' },
        {
          p50: 'preview_ms.p50',
          p95: 'preview_ms.p95',
          bare: 'bare_count_ms.p50',
          candidates: 'candidates.p50',
          exact: 'exact',
          rules: 'rules',
        },
      ),
  },
  {
    name: 'connections',
    title: 'A cached post of 200 comments over more connections',
    x: { label: 'connections', values: [1, 4, 16, 64, 256] },
    lines: [
      { name: 'requests', field: 'requests_per_s', unit: 'requests/s' },
      { name: 'bare Express route', field: 'bare', unit: 'requests/s' },
      { name: 'p99', field: 'p99_ms', unit: 'ms' },
    ],
    command: (x) => ['reading', '--only', 'cached post', '--connections', String(x)],
    read: (lines) => ({
      ...pick(lines, { server: 'reading' }, { requests_per_s: 'requests_per_s', p99_ms: 'p99_ms' }),
      ...pick(lines, { server: 'bare express' }, { bare: 'requests_per_s' }),
    }),
  },
  {
    name: 'partitions',
    title: 'The pipeline with more partitions of each topic of items, one process',
    x: { label: 'partitions', values: [1, 2, 4] },
    lines: [{ name: 'one process', field: 'items_per_s', unit: 'items/s' }],
    command: (x) => ['pipeline', '--items', REPLAYED, '--partitions', String(x)],
    read: (lines) => pick(lines, { partitions: undefined }, { items_per_s: 'items_per_s' }),
  },
  {
    name: 'processes',
    title: 'The pipeline with more processes, four partitions of each topic of items',
    x: { label: 'processes', values: [1, 2, 4] },
    lines: [{ name: 'two cores for everything', field: 'items_per_s', unit: 'items/s' }],
    command: (x) => ['pipeline', '--items', REPLAYED, '--partitions', '4', '--processes', String(x)],
    read: (lines) => pick(lines, { processes: undefined }, { items_per_s: 'items_per_s' }),
  },
];

/**
 * The named values of the last line that has these fields; `undefined` stands for any value. A path is the names of
 * nested fields, joined by dots.
 */
function pick(lines: readonly Json[], having: Json, paths: Readonly<Record<string, string>>): Record<string, number> {
  const isWanted = (line: Json) =>
    Object.entries(having).every(([field, value]) => field in line && (value === undefined || line[field] === value));
  const line = lines.findLast(isWanted);
  if (!line) throw new Error(`no line has ${JSON.stringify(having)}`);
  return Object.fromEntries(
    Object.entries(paths).map(([field, path]) => {
      const value = path.split('.').reduce<unknown>((inner, name) => (inner as Json | undefined)?.[name], line);
      if (typeof value !== 'number') throw new Error(`${path} is missing in ${JSON.stringify(line)}`);
      return [field, value];
    }),
  );
}
