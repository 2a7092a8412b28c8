import { listenFault } from './engines/ports.ts';
import { StartFault } from './engines/engine.ts';
import type { Config } from '../../shared/runtime/config.ts';

const DEFAULT_METRICS_PORT = 9464;

type Addresses = Pick<Config['http'], 'host' | 'port' | 'metricsHost' | 'metricsPort'>;

/**
 * Checks that the API and the metrics can listen. Where the default port of the metrics is in use, they take a free
 * one.
 *
 * @returns the port for the metrics; 0 for any free port
 * @throws StartFault that names the setting
 */
export async function claimPorts(http: Addresses, progress: (line: string) => void): Promise<number> {
  await mustListen(http.host, http.port, 'HOST', 'PORT');
  if (http.metricsPort !== undefined) return claimMetricsPort(http);
  const isFree =
    http.port !== DEFAULT_METRICS_PORT && (await listenFault(DEFAULT_METRICS_PORT, http.metricsHost)) === undefined;
  if (isFree) return DEFAULT_METRICS_PORT;
  await claimMetricsPort(http);
  progress(`port ${DEFAULT_METRICS_PORT} is in use; the metrics use a free port (set METRICS_PORT to choose one)`);
  return 0;
}

/** As claimPorts, for a process that joins an installation: only the ports that its services use. */
export async function claimJoiningPorts(http: Addresses, { withApi }: { withApi: boolean }): Promise<number> {
  if (withApi) await mustListen(http.host, http.port, 'HOST', 'PORT');
  return claimMetricsPort(http);
}

async function claimMetricsPort({ metricsHost, metricsPort = 0 }: Addresses): Promise<number> {
  await mustListen(metricsHost, metricsPort, 'METRICS_HOST', 'METRICS_PORT');
  return metricsPort;
}

async function mustListen(host: string, port: number, hostVariable: string, portVariable: string): Promise<void> {
  const fault = await listenFault(port, host);
  if (fault === undefined) return;
  if (fault !== 'EADDRINUSE' && fault !== 'EACCES') {
    throw new StartFault(`${hostVariable} ${host} is not an address of this machine (${fault}).`);
  }
  const reason = fault === 'EADDRINUSE' ? 'is in use by another program' : `on ${host} may not be used by this user`;
  const way = fault === 'EADDRINUSE' ? 'Stop that program, or choose' : 'Choose';
  throw new StartFault(`Port ${port} ${reason}. ${way} another port with ${portVariable}=….`);
}
