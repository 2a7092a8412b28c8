import { createServer } from 'node:net';
import { StartFault } from './engines/start-fault.ts';
import type { Config } from '../../shared/runtime/config.ts';

const DEFAULT_METRICS_PORT = 9464;

/**
 * Checks before anything is started that the API and the metrics can listen. The metrics move from their default port
 * to a free one when another program has it; a port that was asked for by name must be had.
 *
 * @returns the port for the metrics; 0: any.
 * @throws StartFault that names the port.
 */
export async function claimPorts(config: Config, progress: (line: string) => void): Promise<number> {
  const { host, port, metricsPort } = config.http;
  await mustListen(host, port, 'PORT');
  if (metricsPort !== undefined) {
    await mustListen('127.0.0.1', metricsPort, 'METRICS_PORT');
    return metricsPort;
  }
  if ((await listenFault('127.0.0.1', DEFAULT_METRICS_PORT)) === undefined) return DEFAULT_METRICS_PORT;
  progress(`port ${DEFAULT_METRICS_PORT} is in use: the metrics take a free one (METRICS_PORT chooses)`);
  return 0;
}

async function mustListen(host: string, port: number, variable: string): Promise<void> {
  const fault = port === 0 ? undefined : await listenFault(host, port);
  if (fault === undefined) return;
  const why = fault === 'EADDRINUSE' ? 'is in use by another program' : `of ${host} cannot be listened on (${fault})`;
  throw new StartFault(`Port ${port} ${why}. Stop what uses it, or choose another with ${variable}=….`);
}

function listenFault(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => {
      server.close(() => resolve(undefined));
    });
  });
}
