/**
 * `npm run --silent bench -- growth [--curve NAME] [--draw]`: how speed, time and memory change with size. Each point
 * of a curve is a run of another benchmark. The figures of a curve are kept in `figures/NAME.jsonl` of this folder, and
 * drawn in `figures/NAME.svg`. `--curve` (may be repeated): only these. `--draw`: draws the kept figures, measures
 * nothing.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
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
    options: { curve: { type: 'string', multiple: true }, draw: { type: 'boolean', default: false } },
  });
  const names = values.curve ?? CURVES.map(({ name }) => name);
  const unknown = names.find((name) => !CURVES.some((curve) => curve.name === name));
  if (unknown !== undefined)
    throw new Error(`--curve ${unknown}: there are ${CURVES.map(({ name }) => name).join(', ')}`);
  for (const curve of CURVES.filter(({ name }) => names.includes(name))) {
    if (!values.draw) await measure(report, curve);
    writeFileSync(join(FIGURES, `${curve.name}.svg`), drawCurve(curve, readPoints(curve)));
  }
}

async function measure(report: Report, curve: Curve): Promise<void> {
  const points: Figures[] = [];
  for (const x of curve.x.values) {
    const { stdout } = await run(process.execPath, [MAIN, ...curve.command(x)], { maxBuffer: MAX_OUTPUT });
    const lines = stdout.split('\n').filter((line) => line !== '');
    const point = { x, ...curve.read(lines.map((line) => JSON.parse(line) as Record<string, unknown>)) };
    report({ curve: curve.name, ...point });
    points.push(point);
  }
  writeFileSync(fileOf(curve), points.map((point) => `${JSON.stringify(point)}\n`).join(''));
}

function readPoints(curve: Curve): Figures[] {
  const lines = readFileSync(fileOf(curve), 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Figures);
}

function fileOf({ name }: Curve): string {
  return join(FIGURES, `${name}.jsonl`);
}
