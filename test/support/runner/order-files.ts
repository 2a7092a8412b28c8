export interface TimedFile {
  path: string;
  /** How long the file is expected to take. */
  seconds: number;
  /** Whether the file starts installations of its own, of which only a few run at a time (installation-slots.ts). */
  needsSlot: boolean;
}

/**
 * The order in which `workers` workers, each of which takes the next file when it is free, finish soonest: the longest
 * file first, since a long file at the end leaves the other workers idle. A file that needs one of the `slots` starts
 * only when one of them is expected to be free, so that no worker waits for a slot.
 */
export function orderFiles<File extends TimedFile>(
  files: readonly File[],
  { workers, slots }: { workers: number; slots: number },
): File[] {
  const byLength = files.toSorted((one, other) => other.seconds - one.seconds || compare(one.path, other.path));
  const slotted = byLength.filter(({ needsSlot }) => needsSlot);
  const others = byLength.filter(({ needsSlot }) => !needsSlot);
  const workerFreeAt = Array<number>(workers).fill(0);
  const slotFreeAt = Array<number>(slots).fill(0);
  const ordered: File[] = [];
  while (slotted.length + others.length > 0) {
    const now = Math.min(...workerFreeAt);
    const nextSlotAt = Math.min(...slotFreeAt);
    const mayTakeSlot = slotted.length > 0 && (nextSlotAt <= now || others.length === 0);
    const file = (mayTakeSlot ? slotted : others).shift()!;
    ordered.push(file);
    const endsAt = (file.needsSlot ? Math.max(now, nextSlotAt) : now) + file.seconds;
    workerFreeAt[workerFreeAt.indexOf(now)] = endsAt;
    if (file.needsSlot) slotFreeAt[slotFreeAt.indexOf(nextSlotAt)] = endsAt;
  }
  return ordered;
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
