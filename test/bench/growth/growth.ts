/**
 * `npm run --silent bench -- growth [--curve NAME] [--at X] [--draw]`: how speed, time and memory change with size.
 * Each point of a curve is a run of another benchmark. The figures of a curve are kept in `figures/NAME.jsonl` of this
 * folder, and drawn in `figures/NAME.svg`. `machine_ns`, which is not drawn, is how long the machine took to read a
 * word anywhere in 256 MB before the point: it tells whether points may be compared. `--curve` and `--at` (may be
 * repeated): only these curves, and only these points of them. `--draw`: draws the kept figures, measures nothing.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import type { Report } from '../main.ts';
import { CURVES } from './curves.ts';
import type { Curve, Figures } from './curves.ts';
import { drawCurve } from './draw-curve.ts';

const FIGURES = join(import.meta.dirname, 'figures');
const MAIN = join(import.meta.dirname, '..', 'main.ts');
const MAX_OUTPUT = 64 * 2 ** 20;

const run = promisify(execFile);

export default async function bench(report: Report, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      curve: { type: 'string', multiple: true },
      at: { type: 'string', multiple: true },
      draw: { type: 'boolean', default: false },
    },
  });
  const names = values.curve ?? CURVES.map(({ name }) => name);
  const unknown = names.find((name) => !CURVES.some((curve) => curve.name === name));
  if (unknown !== undefined)
    throw new Error(`--curve ${unknown}: there are ${CURVES.map(({ name }) => name).join(', ')}`);
  for (const curve of CURVES.filter(({ name }) => names.includes(name))) {
    if (!values.draw) await measure(report, curve, values.at?.map(Number) ?? curve.x.values);
    writeFileSync(join(FIGURES, `${curve.name}.svg`), drawCurve(curve, readPoints(curve)));
  }
}

/** Keeps each point as soon as it is measured: a curve takes up to an hour. */
async function measure(report: Report, curve: Curve, at: readonly number[]): Promise<void> {
  for (const x of at) {
    const [machine] = await linesOf(['machine']);
    const point = { x, ...curve.read(await linesOf(curve.command(x))), machine_ns: Number(machine?.random_read_ns) };
    report({ curve: curve.name, ...point });
    const points = [...readPoints(curve).filter((kept) => kept.x !== x), point].sort((a, b) => a.x - b.x);
    writeFileSync(fileOf(curve), points.map((kept) => `${JSON.stringify(kept)}\n`).join(''));
  }
}

async function linesOf(command: string[]): Promise<Record<string, unknown>[]> {
  const { stdout } = await run(process.execPath, [MAIN, ...command], { maxBuffer: MAX_OUTPUT });
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

function readPoints(curve: Curve): Figures[] {
  if (!existsSync(fileOf(curve))) return [];
  const lines = readFileSync(fileOf(curve), 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Figures);
}

function fileOf({ name }: Curve): string {
  return join(FIGURES, `${name}.jsonl`);
}
