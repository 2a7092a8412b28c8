import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DiskCacheOptions } from '../../shared/cache/disk-cache.ts';
import { DiskCache } from '../../shared/cache/disk-cache.ts';

/** A folder for disk caches, with a clock that stands still unless moved, and a record of what was reported. */
export class CacheFolder {
  readonly folder = mkdtempSync(join(tmpdir(), 'forum-cache-'));
  readonly problems: { message: string; error: unknown }[] = [];
  now = 1_000_000;
  private readonly opened: DiskCache[] = [];

  async open(options: Partial<DiskCacheOptions> = {}): Promise<DiskCache> {
    const cache = await DiskCache.open({
      folder: this.folder,
      maxBytes: 10_000_000,
      clock: () => this.now,
      onProblem: (message, error) => {
        this.problems.push({ message, error });
      },
      ...options,
    });
    this.opened.push(cache);
    return cache;
  }

  get messages(): string[] {
    return this.problems.map(({ message }) => message);
  }

  /** The data file of a store of format 1. */
  get dataFile(): string {
    return join(this.folder, 'v1-1', 'data.mdb');
  }

  async remove(): Promise<void> {
    for (const cache of this.opened) await cache.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
