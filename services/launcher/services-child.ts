import { join } from 'node:path';
import { startOwnedProcess } from './engines/owned-process.ts';
import type { OwnedProcess } from './engines/owned-process.ts';

export const SERVICES_MAIN = join(import.meta.dirname, '..', 'services-main.ts');

export const NODE_ARGUMENTS = [
  // kafkajs makes one such timer per connection; it is harmless.
  '--disable-warning=TimeoutNegativeWarning',
  // Megabytes for young objects. Left alone they become 32, times three, and the matcher is no faster for it.
  '--max-semi-space-size=8',
];

/** Where the services listen, as they tell when they are ready. */
export interface ServiceAddresses {
  api: string;
  metrics: string;
}

export interface ServicesChildDeps {
  env: NodeJS.ProcessEnv;
  pidFile: string;
  onReady: (addresses: ServiceAddresses) => void;
}

/** Starts all services in one child, whose log lines are passed through; it tells by itself when it is ready. */
export async function startServices({ env, pidFile, onReady }: ServicesChildDeps): Promise<OwnedProcess> {
  const child = await startOwnedProcess({
    name: 'services',
    command: process.execPath,
    args: [...NODE_ARGUMENTS, SERVICES_MAIN],
    env,
    pidFile,
    marker: SERVICES_MAIN,
    output: 'inherit',
    ipc: true,
    stopSignal: 'SIGTERM',
    stopDeadlineMs: 20_000,
  });
  child.child.on('message', (message: unknown) => {
    if (!isReady(message)) return;
    onReady({ api: message.api, metrics: message.metrics });
    // Its /readyz says yes from now on. A child that is gone needs no answer.
    child.child.send({ type: 'noted' }, () => undefined);
  });
  return child;
}

function isReady(message: unknown): message is ServiceAddresses {
  const { type, api, metrics } = (message ?? {}) as Record<string, unknown>;
  return type === 'ready' && typeof api === 'string' && typeof metrics === 'string';
}
