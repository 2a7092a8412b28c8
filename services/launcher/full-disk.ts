import { statfs } from 'node:fs/promises';

/** An engine cannot write its log and a segment below. */
const FULL_BELOW_BYTES = 32 * 1024 * 1024;

/** Says that the disk of one of these folders is full, which ends engines until there is room; undefined: none is. */
export async function fullDisk(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    try {
      const { bavail, bsize } = await statfs(folder);
      if (bavail * bsize < FULL_BELOW_BYTES) return `the disk of ${folder} is full`;
    } catch {
      // A folder that is not there says nothing.
    }
  }
  return undefined;
}
