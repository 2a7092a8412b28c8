import { stat, statfs } from 'node:fs/promises';

/** The space of a disk, in bytes. */
export interface DiskSpace {
  free: number;
  size: number;
  device: number;
}

/** The space of the disk that holds a folder, as its owner may use it; undefined when the folder does not exist. */
export async function diskSpace(folder: string): Promise<DiskSpace | undefined> {
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { free: bavail * bsize, size: blocks * bsize, device: (await stat(folder)).dev };
  } catch {
    return undefined;
  }
}

const MB = 1024 * 1024;

/** With less free space an engine cannot write its log and a segment. */
export function isFull({ free, size }: Pick<DiskSpace, 'free' | 'size'>): boolean {
  return free < Math.min(32 * MB, size / 4);
}

/** With less, nothing is crawled: the rest is for charging and recording what has entered. */
export function isShort({ free, size }: Pick<DiskSpace, 'free' | 'size'>): boolean {
  return free < Math.min(256 * MB, size / 10);
}

export function inMegabytes(bytes: number): string {
  return `${Math.floor(bytes / MB)} MB`;
}
