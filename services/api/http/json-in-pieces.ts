import { CooperativeYield } from '../../../shared/runtime/cooperative-yield.ts';

/** Large answers take turns: no two of them hold the event loop one after the other. */
const turns = new CooperativeYield();

/**
 * The bytes that `JSON.stringify(body)` writes, made item by item of `member`, a list or another iterable, with turns
 * of the event loop in between: a list of megabytes would hold up all other requests for tens of milliseconds.
 */
export async function jsonInPieces(body: object, member: string, between = turns): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const write = (text: string) => pieces.push(Buffer.from(text));
  let separator = '{';
  for (const [name, value] of Object.entries(body) as [string, unknown][]) {
    if (value === undefined) continue;
    write(`${separator}${JSON.stringify(name)}:`);
    separator = ',';
    if (name !== member) write(JSON.stringify(value));
    else await writeList(value as Iterable<unknown>);
  }
  write(separator === '{' ? '{}' : '}');
  return Buffer.concat(pieces);

  async function writeList(items: Iterable<unknown>): Promise<void> {
    let before = '[';
    for (const item of items) {
      await between.pause();
      write(before + JSON.stringify(item));
      before = ',';
    }
    write(before === '[' ? '[]' : ']');
  }
}
