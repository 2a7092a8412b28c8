import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Removed by a moderator, or deleted by its author. */
export type RemovedHow = 'removed' | 'deleted';

interface RemovedItem {
  k: number;
  how: RemovedHow;
}

/** The items that a control request removed. They are kept in `simulator-removed.jsonl`. */
export class Removals {
  private readonly path: string;
  private readonly items = new Map<number, RemovedHow>();

  private constructor(path: string) {
    this.path = path;
  }

  static open(directory: string): Removals {
    const removals = new Removals(join(directory, 'simulator-removed.jsonl'));
    if (!existsSync(removals.path)) return removals;
    for (const line of readFileSync(removals.path, 'utf8').split('\n')) {
      // A crash may leave an incomplete last line, of a request that got no answer.
      if (!line.endsWith('}')) continue;
      const { k, how } = JSON.parse(line) as RemovedItem;
      removals.items.set(k, how);
    }
    return removals;
  }

  add(k: number, how: RemovedHow): void {
    appendFileSync(this.path, `\n${JSON.stringify({ k, how } satisfies RemovedItem)}\n`);
    this.items.set(k, how);
  }

  of(k: number): RemovedHow | undefined {
    return this.items.get(k);
  }
}
