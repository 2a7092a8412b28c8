/**
 * Shares `total` places out among those who want some: each gets what it wants or an equal share, and what the modest
 * ones leave goes to the others. Everybody gets at least one place, even if there are more of them than places.
 *
 * @param wanted at least 1 each
 * @returns places in the order of `wanted`
 */
export function shareOut(total: number, wanted: readonly number[]): number[] {
  const shares = wanted.map(() => 1);
  let left = total;
  const modestFirst = wanted.map((want, index) => ({ want, index })).sort((a, b) => a.want - b.want);
  for (const [position, { want, index }] of modestFirst.entries()) {
    const share = Math.floor(left / (modestFirst.length - position));
    shares[index] = Math.max(1, Math.min(want, share));
    left = Math.max(0, left - shares[index]);
  }
  return shares;
}
