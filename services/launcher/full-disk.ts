import { diskSpace, inMegabytes, isFull } from '../../shared/runtime/disk-space.ts';

/** Names the first of these folders whose disk is full; undefined if none is. Engines end while their disk is full. */
export async function fullDisk(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const space = await diskSpace(folder);
    if (space !== undefined && isFull(space)) {
      return `the disk of ${folder} is full: ${inMegabytes(space.free)} of ${inMegabytes(space.size)} are free`;
    }
  }
  return undefined;
}
