import { open, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../shared/runtime/config.ts';
import { errorMessage } from '../shared/runtime/errors.ts';
import { repeatEvery } from '../shared/runtime/lifecycle.ts';
import type { Running } from '../shared/runtime/lifecycle.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import type { Metrics } from '../shared/runtime/metrics.ts';

const MB = 1024 * 1024;
const INTERVAL_MS = 5_000;
/** A disk has room again at this multiple of the limit, so that crawling does not start and stop all the time. */
const MORE = 1.25;

export interface WatchedFolder {
  name: string;
  path: string;
  /** Whether crawling fills its disk: Kafka keeps what the other engines have no room for. */
  takesItems: boolean;
}

export interface DiskWatch extends Running {
  /** False while a disk is short of room: nothing more should be crawled. */
  hasRoom(): boolean;
}

export interface DiskWatchDeps {
  /** Folders may share a disk. */
  folders: readonly WatchedFolder[];
  /** Keeps a reserve on the disk of the first folder, at this path; undefined: none. */
  reservePath?: string | undefined;
  metrics: Pick<Metrics, 'diskFree' | 'diskSize' | 'crawlerPaused'>;
  logger: Pick<Logger, 'error' | 'warn'>;
  read?: (folder: string) => Promise<DiskSpace | undefined>;
  intervalMs?: number;
}

/** The data directory and the folder of each embedded engine; none where all engines are servers elsewhere. */
export function watchedFolders(
  { dataDir, embedded }: Pick<Config, 'dataDir' | 'embedded'>,
  { ownsDataDir }: { ownsDataDir: boolean },
): WatchedFolder[] {
  const engines = (['kafka', 'postgres', 'clickhouse'] as const).filter((engine) => embedded[engine]);
  const folders = engines.map((engine) => ({
    name: engine,
    path: join(dataDir, engine),
    takesItems: engine === 'kafka',
  }));
  return ownsDataDir || engines.length > 0 ? [{ name: 'data_dir', path: dataDir, takesItems: true }, ...folders] : [];
}

/** Exports the free space of disks, and logs once when one becomes short of room and when it has room again. */
export async function watchDisks(deps: DiskWatchDeps): Promise<DiskWatch> {
  const checks = new DiskChecks(deps);
  await checks.checkAll();
  const checking = repeatEvery(deps.intervalMs ?? INTERVAL_MS, () => checks.checkAll());
  return { hasRoom: () => checks.hasRoom(), stop: () => checking.stop() };
}

class DiskChecks {
  private readonly deps: DiskWatchDeps;
  private readonly reserve: DiskReserve | undefined;
  /** The disks that are short of room, by their device. */
  private readonly short = new Set<number>();
  /** The short disks that crawling fills. */
  private readonly pausing = new Set<number>();

  constructor(deps: DiskWatchDeps) {
    this.deps = deps;
    this.reserve = deps.reservePath === undefined ? undefined : new DiskReserve(deps.reservePath);
  }

  hasRoom(): boolean {
    return this.pausing.size === 0;
  }

  async checkAll(): Promise<void> {
    const { folders, metrics, read = diskSpace } = this.deps;
    const updated = new Set<number>();
    for (const [index, { name, path, takesItems }] of folders.entries()) {
      const space = await read(path);
      if (space === undefined) continue;
      metrics.diskFree.set({ disk: name }, space.free);
      metrics.diskSize.set({ disk: name }, space.size);
      if (index === 0) await this.keepReserve(path, space);
      if (!updated.has(space.device)) this.update(path, space, takesItems);
      updated.add(space.device);
    }
    metrics.crawlerPaused.set(this.hasRoom() ? 0 : 1);
  }

  private update(folder: string, space: DiskSpace, takesItems: boolean): void {
    const { logger } = this.deps;
    const fields = { folder, free: inMegabytes(space.free), size: inMegabytes(space.size) };
    const wasShort = this.short.has(space.device);
    if (isShort(space)) {
      this.short.add(space.device);
      if (takesItems) this.pausing.add(space.device);
      const effect = takesItems ? ': crawling is paused until there is space' : '';
      if (!wasShort) logger.error(fields, `the disk of ${folder} is almost full${effect}`);
    } else if (wasShort && hasMuchRoom(space)) {
      this.short.delete(space.device);
      this.pausing.delete(space.device);
      logger.warn(fields, `the disk of ${folder} has space again`);
    }
  }

  private async keepReserve(folder: string, space: DiskSpace): Promise<void> {
    const { reserve } = this;
    if (reserve === undefined) return;
    const { logger } = this.deps;
    try {
      const kept = await reserve.size();
      const bytes = reserveBytes(space.size);
      if (isFull(space) && kept > 0) {
        await reserve.release();
        const fields = { folder, released: inMegabytes(kept) };
        logger.error(
          fields,
          `the disk of ${folder} is full: the reserve is released so that reads and pages keep working`,
        );
      } else if (kept < bytes && hasMuchRoom({ ...space, free: space.free - bytes })) {
        await reserve.fill(bytes);
      }
    } catch (error) {
      logger.warn({ err: errorMessage(error), folder }, 'no reserve can be kept on this disk');
    }
  }
}

function hasMuchRoom(space: DiskSpace): boolean {
  return !isShort({ ...space, free: space.free / MORE });
}

const CHUNK = Buffer.alloc(MB);

/** Small on small disks; three segments of Postgres's log at most. */
function reserveBytes(diskSize: number): number {
  return Math.floor(Math.min(48, diskSize / MB / 20)) * MB;
}

/** Only occupies space. Released when the disk is full, so that Postgres can answer pages and charge reads. */
class DiskReserve {
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
