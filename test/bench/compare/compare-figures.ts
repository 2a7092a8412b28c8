/** One line that a benchmark printed. */
export type ResultLine = Readonly<Record<string, unknown>>;

/** What the two sides of one round printed. */
export interface Round {
  base: readonly ResultLine[];
  now: readonly ResultLine[];
}

/** How a figure differs between the two sides, over all rounds. */
export interface Comparison {
  /** The line, from 1, and the words in it. */
  line: number;
  of: string;
  /** The name of the figure in the line, such as `memory_mb.most`. */
  figure: string;
  /** Geometric means. */
  base: number;
  now: number;
  /** now / base: the geometric mean, and the bounds of its 95 % interval. */
  ratio: number;
  low: number;
  high: number;
  /** The interval does not hold 1: the difference is more than what rounds differ by among themselves. */
  differs: boolean;
}

/** 97.5 % quantiles of Student's t distribution by degrees of freedom, from 1. */
const T_QUANTILES = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086,
];
const NORMAL_QUANTILE = 1.96;

/**
 * Compares the figures of rounds in which both sides ran one after the other, so that what slows the machine down slows
 * both. The interval is that of the mean of the logarithms of the ratios, by Student's t distribution. Figures that
 * are the same everywhere are parameters and are left out, as are those that are not above 0 in some run.
 *
 * @param rounds at least two
 * @throws Error when the runs did not print the same lines
 */
export function compareFigures(rounds: readonly Round[]): Comparison[] {
  if (rounds.length < 2) throw new Error('At least two rounds are needed.');
  const sides = rounds.flatMap(({ base, now }) => [base, now]);
  const words = sides[0]!.map(wordsOf);
  for (const side of sides) {
    const found = side.map(wordsOf);
    if (found.join('\n') !== words.join('\n'))
      throw new Error(`The runs printed different lines:\n${words.join('\n')}\nand:\n${found.join('\n')}`);
  }
  return words.flatMap((of, index) => {
    const pairs = rounds.map(({ base, now }) => ({ base: figuresOf(base[index]!), now: figuresOf(now[index]!) }));
    return [...pairs[0]!.base.keys()].flatMap((figure) => {
      const values = pairs.map(({ base, now }) => ({ base: base.get(figure) ?? 0, now: now.get(figure) ?? 0 }));
      if (values.some(({ base, now }) => base <= 0 || now <= 0)) return [];
      if (values.every(({ base, now }) => base === values[0]!.base && now === base)) return [];
      return [{ line: index + 1, of, figure, ...compareValues(values) }];
    });
  });
}

function compareValues(values: readonly { base: number; now: number }[]) {
  const ratios = values.map(({ base, now }) => Math.log(now / base));
  const mean = meanOf(ratios);
  const variance = ratios.reduce((sum, ratio) => sum + (ratio - mean) ** 2, 0) / (ratios.length - 1);
  const margin = (T_QUANTILES[ratios.length - 2] ?? NORMAL_QUANTILE) * Math.sqrt(variance / ratios.length);
  const [low, high] = [rounded(Math.exp(mean - margin)), rounded(Math.exp(mean + margin))];
  return {
    base: rounded(Math.exp(meanOf(values.map(({ base }) => Math.log(base))))),
    now: rounded(Math.exp(meanOf(values.map(({ now }) => Math.log(now))))),
    ratio: rounded(Math.exp(mean)),
    ...{ low, high, differs: low > 1 || high < 1 },
  };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Four digits. */
function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

/** The texts of a line: what was measured, apart from the figures. */
function wordsOf(line: ResultLine): string {
  return leaves(line)
    .filter(([, value]) => typeof value === 'string')
    .map(([, value]) => String(value))
    .join(' ');
}

function figuresOf(line: ResultLine): Map<string, number> {
  return new Map(leaves(line).filter((leaf): leaf is [string, number] => Number.isFinite(leaf[1])));
}

/** The values of nested objects and arrays, by their path. */
function leaves(value: unknown, path = ''): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return [[path, value]];
  return Object.entries(value).flatMap(([key, part]) => leaves(part, path === '' ? key : `${path}.${key}`));
}
