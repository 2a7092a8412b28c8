import {
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
import { z } from 'zod';
import type { Run } from './timeline.ts';

const runSchema = z.object({
  first: z.int().min(0),
  end: z.int().min(0).nullable(),
  at: z.number(),
  rate: z.number().min(0),
  ids: z.enum(['sequential', 'random']),
  holes: z.number(),
  late: z.number(),
  late_seconds: z.number().optional(),
  omissions: z
    .object({
      drop_all: z.object({ share: z.number(), above: z.number() }).optional(),
      outside_all: z.number().optional(),
      thread_only: z.number().optional(),
    })
    .optional(),
});
const fileSchema = z.object({
  seed: z.int(),
  communities: z.int().optional(),
  reserved: z.int().min(0),
  runs: z.array(runSchema),
});

/** What decides the content of a forum, and so must never change for a directory. */
interface Forum {
  seed: number;
  /** The number of generated communities; undefined: none. */
  communities?: number | undefined;
}

/** Enough for numbers below 10^15. A write of 16 bytes is never partially visible. */
const POSITION_DIGITS = 15;

/**
 * The state on disk. `simulator.json` (replaced atomically) stores the runs and the end of the reserved block.
 * `simulator-position` stores the frontier in fixed width and is overwritten in place before new items become visible.
 * So after a kill -9 every item that was visible still exists, and the rest of the reserved block is a hole. Neither
 * file is synced to the disk: a power failure may set the simulator back by some seconds.
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
    const stored = existsSync(path) ? fileSchema.parse(JSON.parse(readFileSync(path, 'utf8'))) : undefined;
    if (stored) requireSame(path, stored, forum);
    const text = existsSync(positionPath) ? readFileSync(positionPath, 'utf8') : '';
    const runs = stored?.runs ?? [];
    const reserved = stored?.reserved ?? 0;
    const frontier = stored && /^\d+\n$/.test(text) ? Math.min(Number(text), reserved) : reserved;
    const descriptor = openSync(positionPath, existsSync(positionPath) ? 'r+' : 'w+', 0o644);
    return { position: new Position(path, descriptor, forum, runs, reserved), runs, frontier };
  }

  /** Writes the runs and the end of the reservation. Afterwards slots below `reserved` may be emitted. */
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
  if (stored.seed !== forum.seed) {
    throw new Error(
      `${path} was written with SIMULATOR_SEED=${stored.seed}; use that seed, or remove the file to start over with seed ${forum.seed}`,
    );
  }
  const [before, now] = [stored.communities ?? 0, forum.communities ?? 0];
  if (before !== now) {
    throw new Error(
      `${path} was written with SIMULATOR_COMMUNITIES=${before}; use that number, or remove the file to start over with ${now}`,
    );
  }
}

const TAIL_BYTES = 4 * 1024 * 1024;

/**
 * One JSON line per emitted item, written after the position and before the item is served. After a kill -9 the last
 * lines may therefore be missing or incomplete. The constructor removes an incomplete line and sets `next`, the slot
 * from which the caller has to add lines.
 */
export class EmittedLog {
  private readonly descriptor: number;
  /**
   * The slot after the last logged one; 0 for an empty file; undefined for a new file, in which no lines are missing.
   */
  readonly next: number | undefined;

  constructor(path: string) {
    const isNew = !existsSync(path);
    this.descriptor = openSync(path, isNew ? 'w+' : 'r+');
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
    const lines = Buffer.from(items.map((item) => `${JSON.stringify(item)}\n`).join(''));
    let done = 0;
    const size = fstatSync(this.descriptor).size;
    while (done < lines.length) done += writeSync(this.descriptor, lines, done, lines.length - done, size + done);
  }

  close(): void {
    closeSync(this.descriptor);
  }
}
