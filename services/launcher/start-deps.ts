import type { Config } from '../../shared/runtime/config.ts';
import type { LaunchOutput } from './launch-output.ts';

export interface StartDeps {
  config: Config;
  env: NodeJS.ProcessEnv;
  /** Aborted by the first SIGTERM or SIGINT; then everything is stopped in order. */
  signal: AbortSignal;
  output: LaunchOutput;
}

/** Checks the named servers, if any. Loading the clients takes longer than the rest of this process's start. */
export async function checkNamedServers({ config, output }: Pick<StartDeps, 'config' | 'output'>): Promise<void> {
  if ((config.kafka.brokers ?? config.postgresUrl ?? config.clickhouseUrl) === undefined) return;
  const { checkServers } = await import('./check-servers.ts');
  await checkServers(config, output.warn);
}
