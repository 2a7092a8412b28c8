import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
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
});
const fileSchema = z.object({ seed: z.int(), reserved: z.int().min(0), runs: z.array(runSchema) });

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
  private readonly seed: number;
  private readonly runs: Run[];

  private constructor(path: string, descriptor: number, seed: number, runs: Run[], reserved: number) {
    this.path = path;
    this.descriptor = descriptor;
    this.seed = seed;
    this.runs = runs;
    this.reserved = reserved;
  }

  /** Throws if the folder belongs to another seed, because the same ids would have other content. */
  static open(directory: string, seed: number): { position: Position; runs: Run[]; frontier: number } {
    mkdirSync(directory, { recursive: true });
    const path = join(directory, 'simulator.json');
    const positionPath = join(directory, 'simulator-position');
    const stored = existsSync(path) ? fileSchema.parse(JSON.parse(readFileSync(path, 'utf8'))) : undefined;
    if (stored && stored.seed !== seed) {
      throw new Error(
        `${path} was written with SIMULATOR_SEED=${stored.seed}; use that seed, or remove the file to start over with seed ${seed}`,
      );
    }
    const text = existsSync(positionPath) ? readFileSync(positionPath, 'utf8') : '';
    const runs = stored?.runs ?? [];
    const reserved = stored?.reserved ?? 0;
    const frontier = stored && /^\d+\n$/.test(text) ? Math.min(Number(text), reserved) : reserved;
    const descriptor = openSync(positionPath, existsSync(positionPath) ? 'r+' : 'w+', 0o644);
    return { position: new Position(path, descriptor, seed, runs, reserved), runs, frontier };
  }

  /** Writes the runs and the end of the reservation. Afterwards slots below `reserved` may be emitted. */
  reserve(reserved: number): void {
    this.reserved = reserved;
    const temporary = `${this.path}.tmp`;
    writeFileSync(temporary, JSON.stringify({ seed: this.seed, reserved, runs: this.runs }));
    renameSync(temporary, this.path);
  }

  advance(frontier: number): void {
    writeSync(this.descriptor, `${String(frontier).padStart(POSITION_DIGITS, '0')}\n`, 0);
  }

  close(): void {
    closeSync(this.descriptor);
  }
}
