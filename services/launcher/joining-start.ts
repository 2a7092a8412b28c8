import { readEndpoints } from '../../shared/runtime/endpoints-file.ts';
import { errorMessage } from '../../shared/runtime/errors.ts';
import { makeDataDir } from './engines/data-dir-lock.ts';
import { StartFault } from './engines/engine.ts';
import { claimJoiningPorts } from './engines/ports.ts';
import { checkNamedServers } from './full-start.ts';
import type { StartDeps } from './full-start.ts';
import { MEMORY_ENVIRONMENT, NODE_ARGUMENTS, SERVICES_MAIN } from './child-processes.ts';
import { servicesEnvironment } from './services-environment.ts';

/**
 * Replaces this process by one that runs only the named services and joins the installation on DATA_DIR, or the servers
 * of the three URL variables.
 *
 * @throws StartFault when there is no installation to join, or a setting is wrong
 */
export async function joiningStart(services: readonly string[], start: StartDeps): Promise<never> {
  const { config, env } = start;
  const endpoints = readEndpoints(config.dataDir);
  const named = config.kafka.brokers && config.postgresUrl && config.clickhouseUrl;
  if (endpoints === undefined && !named) {
    throw new StartFault(
      `Nothing to join: no installation runs on ${config.dataDir}, and KAFKA_BROKERS, DATABASE_URL and CLICKHOUSE_URL are not all set. Run npm start first, or set all three.`,
    );
  }
  const withApi = services.includes('api');
  if (withApi && endpoints === undefined && config.mail.smtpUrl === undefined) checkOutbox(config.dataDir);
  const metrics = await claimJoiningPorts(config.http, { withApi });
  await checkNamedServers(start);
  const args = [process.execPath, ...NODE_ARGUMENTS, SERVICES_MAIN, ...services];
  const whole = {
    ...MEMORY_ENVIRONMENT,
    ...env,
    DATA_DIR: config.dataDir,
    ...(endpoints === undefined ? {} : servicesEnvironment(config, endpoints)),
    METRICS_PORT: String(metrics),
  };
  // The new process would not know of a signal that this one received.
  if (start.signal.aborted) throw new StartFault('stopped before the services started');
  // exec keeps the process id, so signals and the exit code need no forwarding.
  return execve(args, whole);
}

/** Without SMTP_URL the API writes its mails to the data directory. */
function checkOutbox(dataDir: string): void {
  try {
    makeDataDir(dataDir);
  } catch (error) {
    throw new StartFault(`DATA_DIR ${dataDir} cannot be written to: ${errorMessage(error)}`);
  }
}

function execve(args: string[], env: NodeJS.ProcessEnv): never {
  if (process.execve === undefined) throw new StartFault('A joining start needs a POSIX system.');
  const defined = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return process.execve(process.execPath, args, Object.fromEntries(defined));
}
