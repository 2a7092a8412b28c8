/** p50, p90, p99 and max of some values, rounded; all null when there are none. */
export function percentiles(values: number[]): Record<'p50' | 'p90' | 'p99' | 'max', number | null> {
  const sorted = values.toSorted((a, b) => a - b);
  const atShare = (share: number) => {
    const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
    return value === undefined ? null : Math.round(value * 10) / 10;
  };
  return { p50: atShare(0.5), p90: atShare(0.9), p99: atShare(0.99), max: atShare(1) };
}
