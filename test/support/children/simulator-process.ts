import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { EmittedItem } from '../clients/emitted-items.ts';
import { readEmitted } from '../clients/emitted-items.ts';

export interface SimulatorProcess {
  url: string;
  /** The things that it reports as emitted so far. */
  emitted: () => EmittedItem[];
  /** Sets a fault, with the body of POST /simulator/faults. */
  fault: (fault: object) => Promise<void>;
  stats: () => Promise<{ emitted: number; finished: boolean }>;
  stop: () => Promise<void>;
}

/** The simulator as a separate process, on a free port, with a new folder. `settings` are its environment variables. */
export async function startSimulatorProcess(settings: Record<string, string>): Promise<SimulatorProcess> {
  const directory = mkdtempSync(join(tmpdir(), 'forum-test-simulator-'));
  const log = join(directory, 'emitted.jsonl');
  const { NODE_COMPILE_CACHE } = process.env;
  const own = { SIMULATOR_PORT: '0', DATA_DIR: directory, SIMULATOR_EMITTED_LOG: log };
  const env = { ...own, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }), ...settings };
  const child = spawn(process.execPath, ['services/simulator/main.ts'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { simulator: url } = JSON.parse(line) as { simulator: string };
  return {
    url,
    emitted: () => readEmitted(log),
    async fault(fault) {
      const response = await fetch(`${url}/simulator/faults`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(fault),
      });
      if (!response.ok) throw new Error(`the simulator refused the fault: ${await response.text()}`);
    },
    stats: async () => (await (await fetch(`${url}/simulator/stats`)).json()) as { emitted: number; finished: boolean },
    async stop() {
      if (child.exitCode === null) {
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
