import { readEndpoints, brokersOf } from '../../shared/runtime/endpoints-file.ts';
import type { Endpoints } from '../../shared/runtime/endpoints-file.ts';
import { StartFault } from './engines/start-fault.ts';
import type { Config } from '../../shared/runtime/config.ts';
import { NODE_ARGUMENTS, SERVICES_MAIN } from './services-child.ts';
import { simulatorEnvironment } from './services-environment.ts';

/**
 * Turns this process into one that runs the named services only, against an installation that runs already: the one on
 * DATA_DIR, or the servers of the three URL variables. It owns nothing: no lock, no engine, no endpoints.json.
 *
 * @throws StartFault when there is neither.
 */
export function joiningStart(services: readonly string[], config: Config, env: NodeJS.ProcessEnv): never {
  const endpoints = readEndpoints(config.dataDir);
  const named = config.kafka.brokers && config.postgresUrl && config.clickhouseUrl;
  if (endpoints === undefined && !named) {
    throw new StartFault(
      `Nothing to join: no installation runs on ${config.dataDir} (npm start), and KAFKA_BROKERS, DATABASE_URL and CLICKHOUSE_URL are not all set.`,
    );
  }
  const joined = endpoints === undefined ? {} : environmentOf(endpoints, config);
  const metrics = config.http.metricsPort ?? 0;
  const args = [process.execPath, ...NODE_ARGUMENTS, SERVICES_MAIN, ...services];
  const whole = { ...env, DATA_DIR: config.dataDir, ...joined, METRICS_PORT: String(metrics) };
  // The same process goes on as the services: signals and the exit code need no passing on.
  return execve(args, whole);
}

/** What the running installation provides, under what the environment names itself. */
function environmentOf(endpoints: Endpoints, config: Config): Record<string, string> {
  const own = {
    kafka: config.kafka.brokers !== undefined,
    postgres: config.postgresUrl !== undefined,
    clickhouse: config.clickhouseUrl !== undefined,
  };
  const embedded = endpoints.embedded.filter((name) => !own[name as keyof typeof own]);
  return {
    ...(own.kafka ? {} : { KAFKA_BROKERS: brokersOf(endpoints.kafka) }),
    ...(own.postgres ? {} : { DATABASE_URL: endpoints.postgres }),
    ...(own.clickhouse ? {} : { CLICKHOUSE_URL: endpoints.clickhouse }),
    ...(config.upstream.clients || endpoints.simulator === undefined ? {} : simulatorEnvironment(endpoints.simulator)),
    FORUM_EMBEDDED: embedded.join(','),
  };
}

function execve(args: string[], env: NodeJS.ProcessEnv): never {
  if (process.execve === undefined) throw new StartFault('A joining start needs a POSIX system.');
  const defined = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return process.execve(process.execPath, args, Object.fromEntries(defined));
}
