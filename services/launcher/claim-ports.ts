import { createServer } from 'node:net';
import { StartFault } from './engines/start-fault.ts';
import type { Config } from '../../shared/runtime/config.ts';

const DEFAULT_METRICS_PORT = 9464;

/**
 * Checks, before anything is started, that the API and the metrics can listen on their ports. If the default port of
 * the metrics is in use, they take a free one. A port that is set explicitly must be available.
 *
 * @returns the port for the metrics; 0 for any free port.
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
  progress(`port ${DEFAULT_METRICS_PORT} is in use; the metrics use a free port (set METRICS_PORT to choose one)`);
  return 0;
}

async function mustListen(host: string, port: number, variable: string): Promise<void> {
  const fault = port === 0 ? undefined : await listenFault(host, port);
  if (fault === undefined) return;
  const reason = fault === 'EADDRINUSE' ? 'is in use by another program' : `on ${host} cannot be opened (${fault})`;
  throw new StartFault(`Port ${port} ${reason}. Stop that program, or choose another port with ${variable}=….`);
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
