import { statfs } from 'node:fs/promises';

/** With less free space an engine cannot write its log and a segment. */
const FULL_BELOW_BYTES = 32 * 1024 * 1024;

/** Names the first of these folders whose disk is full; undefined if none is. Engines end while their disk is full. */
export async function fullDisk(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    try {
      const { bavail, bsize } = await statfs(folder);
      if (bavail * bsize < FULL_BELOW_BYTES) return `the disk of ${folder} is full`;
    } catch {
      // The folder does not exist.
    }
  }
  return undefined;
}
