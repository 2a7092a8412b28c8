/** Whether one letter is added, missing or another, or two neighbours are exchanged (Damerau). */
export function isOneEditAway(one: string, other: string): boolean {
  if (one === other || Math.abs(one.length - other.length) > 1) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  let [endOfOne, endOfOther] = [one.length, other.length];
  while (endOfOne > start && endOfOther > start && one[endOfOne - 1] === other[endOfOther - 1]) {
    endOfOne--;
    endOfOther--;
  }
  const [rest, otherRest] = [one.slice(start, endOfOne), other.slice(start, endOfOther)];
  if (rest.length <= 1 && otherRest.length <= 1) return true;
  return rest.length === 2 && otherRest.length === 2 && rest[0] === otherRest[1] && rest[1] === otherRest[0];
}
