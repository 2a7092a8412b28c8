import { readEndpoints, brokersOf } from '../../shared/runtime/endpoints-file.ts';
import type { Endpoints } from '../../shared/runtime/endpoints-file.ts';
import { errorMessage } from '../../shared/runtime/errors.ts';
import { makeDataDir } from './engines/data-dir-lock.ts';
import { StartFault } from './engines/start-fault.ts';
import type { Config } from '../../shared/runtime/config.ts';
import { claimJoiningPorts } from './claim-ports.ts';
import { checkNamedServers } from './start-deps.ts';
import type { StartDeps } from './start-deps.ts';
import { MEMORY_ENVIRONMENT, NODE_ARGUMENTS, SERVICES_MAIN } from './services-child.ts';
import { trialPaymentsEnvironment } from './trial-payments.ts';
import { compileCache, simulatorEnvironment } from './services-environment.ts';

/**
 * Replaces this process by one that runs only the named services and joins a running installation: the one on DATA_DIR,
 * or the servers of the three URL variables. It takes no lock, starts no engine and writes no endpoints.json.
 *
 * @throws StartFault when there is no installation to join, or a setting is wrong.
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
  const joined = endpoints === undefined ? {} : environmentOf(endpoints, config);
  const args = [process.execPath, ...NODE_ARGUMENTS, SERVICES_MAIN, ...services];
  // The compiled code of the installation that runs here, as its own services use it.
  const compiled = endpoints === undefined ? {} : compileCache(config);
  const whole = {
    ...MEMORY_ENVIRONMENT,
    ...env,
    ...compiled,
    DATA_DIR: config.dataDir,
    ...joined,
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

/** Returns the addresses of the running installation, except those that the environment sets itself. */
function environmentOf(endpoints: Endpoints, config: Config): Record<string, string> {
  const own = {
    kafka: config.kafka.brokers !== undefined,
    postgres: config.postgresUrl !== undefined,
    clickhouse: config.clickhouseUrl !== undefined,
  };
  const embedded = endpoints.embedded.filter((name) => !own[name as keyof typeof own]);
  const { simulator } = endpoints;
  const isSimulated = simulator !== undefined && config.upstream.clients === undefined;
  const hasTrialPayments = isSimulated && endpoints.trialPayments === true && config.payments === undefined;
  return {
    ...(own.kafka ? {} : { KAFKA_BROKERS: brokersOf(endpoints.kafka) }),
    ...(own.postgres ? {} : { DATABASE_URL: endpoints.postgres }),
    ...(own.clickhouse ? {} : { CLICKHOUSE_URL: endpoints.clickhouse }),
    ...(isSimulated ? simulatorEnvironment(simulator) : {}),
    ...(hasTrialPayments ? trialPaymentsEnvironment(config.dataDir, simulator) : {}),
    FORUM_EMBEDDED: embedded.join(','),
  };
}

function execve(args: string[], env: NodeJS.ProcessEnv): never {
  if (process.execve === undefined) throw new StartFault('A joining start needs a POSIX system.');
  const defined = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return process.execve(process.execPath, args, Object.fromEntries(defined));
}
