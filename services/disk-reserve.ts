import { open, rm, stat } from 'node:fs/promises';

const MB = 1024 * 1024;
const CHUNK = Buffer.alloc(MB);

/** Small on small disks; three segments of Postgres's log at most. */
export function reserveBytes(diskSize: number): number {
  return Math.floor(Math.min(48, diskSize / MB / 20)) * MB;
}

/**
 * A file that only occupies space. It is released when the disk is full, so that Postgres can go on: answering pages
 * and charging reads takes little room, which something else would have used up.
 */
export class DiskReserve {
  private readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Bytes that a release frees; 0 when it was released. */
  async size(): Promise<number> {
    return (await stat(this.path).catch(() => undefined))?.size ?? 0;
  }

  /** Creates it, or leaves it as it is. On failure nothing of it is left. */
  async fill(bytes: number): Promise<void> {
    if ((await this.size()) >= bytes) return;
    const file = await open(this.path, 'w', 0o600);
    try {
      for (let written = 0; written < bytes; written += CHUNK.length) await file.write(CHUNK);
    } catch {
      await this.release();
    } finally {
      await file.close();
    }
  }

  async release(): Promise<void> {
    await rm(this.path, { force: true });
  }
}
