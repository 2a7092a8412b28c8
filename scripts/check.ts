/**
 * `npm run check`: runs every script of package.json whose name begins with `check:`, in the order given there, the
 * longest first, as many at a time as there are processors. `check:containers` needs root and ten minutes, so it is
 * left out. Prints the output of each when it ends. One step that fails makes the check fail. More at a time would keep
 * eslint, the longest, from its processor, and end later.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

interface Step {
  name: string;
  status: number | null;
}

async function run(name: string): Promise<Step> {
  const started = performance.now();
  const child = spawn('npm', ['run', '--silent', name], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${status === 0 ? 'ok' : 'FAILED'}  ${name} (${seconds} s)`);
  process.stdout.write(Buffer.concat(output));
  return { name, status };
}

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
const names = Object.keys(scripts).filter((name) => /^check:(?!containers$)/.test(name));
const steps: Step[] = [];
const lane = async () => {
  for (let name = names.shift(); name !== undefined; name = names.shift()) steps.push(await run(name));
};
await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, lane));
const failed = steps.filter(({ status }) => status !== 0);
if (failed.length > 0) console.error(`The check failed: ${failed.map(({ name }) => name).join(', ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;
