import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { runAdmin } from '../../../services/admin/run-admin.ts';

const ROOT = join(import.meta.dirname, '../../..');

export interface AdminResult {
  code: number | null;
  out: string;
  err: string;
}

/** Runs what `npm run admin` runs with these arguments, in an environment of only `env` and PATH. */
export function runAdminProcess(args: readonly string[], env: Record<string, string>): Promise<AdminResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['services/admin/main.ts', ...args], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const result: AdminResult = { code: null, out: '', err: '' };
    child.stdout.on('data', (chunk: Buffer) => (result.out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (result.err += chunk.toString()));
    child.once('error', reject);
    child.once('close', (code) => resolve({ ...result, code }));
  });
}

/** Does the same in this process, which saves its start. */
export async function runAdminHere(args: readonly string[], env: Record<string, string>): Promise<AdminResult> {
  const result: AdminResult = { code: null, out: '', err: '' };
  const terminal = {
    isTerminal: false,
    out: (line: string) => void (result.out += `${line}\n`),
    err: (line: string) => void (result.err += `${line}\n`),
  };
  result.code = await runAdmin([...args], env, terminal);
  return result;
}
