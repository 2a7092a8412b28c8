/** `npm run --silent bench -- NAME [args]`: runs one benchmark; each result is one JSON line on stdout. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { exitOnSignal } from './shared/exit-on-signal.ts';

export type Report = (line: object) => void;
/** A benchmark is a file NAME/NAME.ts of this folder whose default export has this type. */
export type Bench = (report: Report, args: string[]) => Promise<void>;

const fileOf = (bench: string) => join(import.meta.dirname, bench, `${bench}.ts`);
const names = readdirSync(import.meta.dirname).filter((folder) => existsSync(fileOf(folder)));

const [name, ...args] = process.argv.slice(2);
if (!name || !names.includes(name)) {
  console.error(`Usage: npm run --silent bench -- NAME\nBenchmarks: ${names.join(', ')}`);
  process.exit(name ? 1 : 0);
}
exitOnSignal();
const { default: bench } = (await import(fileOf(name))) as { default: Bench };
await bench((line) => console.log(JSON.stringify({ bench: name, ...line })), args);
process.exit(0);
