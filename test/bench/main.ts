/** `npm run --silent bench -- NAME [args]`: runs one benchmark; each result is one JSON line on stdout. */
import { readdirSync } from 'node:fs';

export type Report = (line: object) => void;
/** A benchmark is a file of this folder whose default export has this type. */
export type Bench = (report: Report, args: string[]) => Promise<void>;

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'main.ts')
  .map((file) => file.slice(0, -3))
  .filter((name) => !name.startsWith('support-'));

const [name, ...args] = process.argv.slice(2);
if (!name || !names.includes(name)) {
  console.error(`Usage: npm run --silent bench -- NAME\nBenchmarks: ${names.join(', ')}`);
  process.exit(name ? 1 : 0);
}
const { default: bench } = (await import(`./${name}.ts`)) as { default: Bench };
await bench((line) => console.log(JSON.stringify({ bench: name, ...line })), args);
process.exit(0);
