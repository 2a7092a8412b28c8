import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
  fstatSync,
  ftruncateSync,
  readSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Run } from './timeline.ts';

/** What decides the content of a forum, and so must never change for a directory. */
interface Forum {
  seed: number;
  communities?: number | undefined;
}

interface Stored extends Forum {
  reserved: number;
  runs: Run[];
}

/** Enough for numbers below 10^15. A write of 16 bytes is never partially visible. */
const POSITION_DIGITS = 15;

/**
 * `simulator.json` (replaced atomically) stores the runs and the end of the reserved block; `simulator-position` the
 * frontier, overwritten in place before new items become visible. So after a kill -9 every item that was visible
 * exists, and the rest of the block is a hole. Neither is synced to the disk.
 */
export class Position {
  private readonly path: string;
  private readonly descriptor: number;
  reserved: number;
  private readonly forum: Forum;
  private readonly runs: Run[];

  private constructor(path: string, descriptor: number, forum: Forum, runs: Run[], reserved: number) {
    this.path = path;
    this.descriptor = descriptor;
    this.forum = forum;
    this.runs = runs;
    this.reserved = reserved;
  }

  /** Throws if the folder belongs to another forum, because the same ids would have other content. */
  static open(directory: string, forum: Forum): { position: Position; runs: Run[]; frontier: number } {
    mkdirSync(directory, { recursive: true });
    const path = join(directory, 'simulator.json');
    const positionPath = join(directory, 'simulator-position');
    const stored = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Stored) : undefined;
    if (stored) requireSame(path, stored, forum);
    const text = existsSync(positionPath) ? readFileSync(positionPath, 'utf8') : '';
    const runs = stored?.runs ?? [];
    const reserved = stored?.reserved ?? 0;
    const frontier = stored && /^\d+\n$/.test(text) ? Math.min(Number(text), reserved) : reserved;
    const descriptor = openSync(positionPath, existsSync(positionPath) ? 'r+' : 'w+', 0o644);
    return { position: new Position(path, descriptor, forum, runs, reserved), runs, frontier };
  }

  reserve(reserved: number): void {
    this.reserved = reserved;
    const temporary = `${this.path}.tmp`;
    writeFileSync(temporary, JSON.stringify({ ...this.forum, reserved, runs: this.runs }));
    renameSync(temporary, this.path);
  }

  advance(frontier: number): void {
    writeSync(this.descriptor, `${String(frontier).padStart(POSITION_DIGITS, '0')}\n`, 0);
  }

  close(): void {
    closeSync(this.descriptor);
  }
}

function requireSame(path: string, stored: Forum, forum: Forum): void {
  const settings = [
    ['SIMULATOR_SEED', stored.seed, forum.seed],
    ['SIMULATOR_COMMUNITIES', stored.communities ?? 0, forum.communities ?? 0],
  ] as const;
  for (const [name, before, now] of settings) {
    if (before === now) continue;
    throw new Error(
      `${path} was written with ${name}=${before}; use that, or remove the file to start over with ${now}`,
    );
  }
}

const TAIL_BYTES = 4 * 1024 * 1024;

/**
 * One JSON line per emitted item, written after the position. After a kill -9 the last lines may be incomplete, which
 * the constructor removes, or missing: the caller adds them from `next` on.
 */
export class EmittedLog {
  private readonly descriptor: number;
  /** 0 for an empty file; undefined for a new one. */
  readonly next: number | undefined;

  constructor(path: string) {
    const isNew = !existsSync(path);
    this.descriptor = openSync(path, 'a+');
    this.next = isNew ? undefined : this.repair();
  }

  private repair(): number {
    const size = fstatSync(this.descriptor).size;
    const start = Math.max(0, size - TAIL_BYTES);
    const tail = Buffer.alloc(size - start);
    readSync(this.descriptor, tail, 0, tail.length, start);
    const end = tail.lastIndexOf(10) + 1;
    ftruncateSync(this.descriptor, start + end);
    if (end === 0) return 0;
    const line = tail.subarray(tail.lastIndexOf(10, end - 2) + 1, end).toString();
    const last = JSON.parse(line) as { k: number };
    return last.k + 1;
  }

  append(items: readonly object[]): void {
    if (items.length === 0) return;
    appendFileSync(this.descriptor, items.map((item) => `${JSON.stringify(item)}\n`).join(''));
  }

  close(): void {
    closeSync(this.descriptor);
  }
}
