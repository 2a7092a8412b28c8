export interface TimedFile {
  path: string;
  /** How long the file is expected to take. */
  seconds: number;
  /** Of these only one runs at a time; see installation-slot.ts. */
  isExclusive: boolean;
}

/**
 * The order in which `workers` workers, each of which takes the next file when it is free, finish soonest: the longest
 * file first, since a long file at the end leaves the other workers idle. An exclusive file starts only when the
 * exclusive file before it is expected to have ended, so that no worker waits for its slot.
 */
export function orderFiles<File extends TimedFile>(files: readonly File[], workers: number): File[] {
  const byLength = files.toSorted((one, other) => other.seconds - one.seconds || compare(one.path, other.path));
  const exclusive = byLength.filter(({ isExclusive }) => isExclusive);
  const others = byLength.filter(({ isExclusive }) => !isExclusive);
  const freeAt = Array<number>(workers).fill(0);
  let exclusiveEndsAt = 0;
  const ordered: File[] = [];
  while (exclusive.length + others.length > 0) {
    const now = Math.min(...freeAt);
    const mayStartExclusive = exclusive.length > 0 && (exclusiveEndsAt <= now || others.length === 0);
    const file = (mayStartExclusive ? exclusive : others).shift()!;
    ordered.push(file);
    const endsAt = (file.isExclusive ? Math.max(now, exclusiveEndsAt) : now) + file.seconds;
    freeAt[freeAt.indexOf(now)] = endsAt;
    if (file.isExclusive) exclusiveEndsAt = endsAt;
  }
  return ordered;
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
