import type { ClusterEngines } from '../../support/cluster/cluster-engines.ts';
import { MONITOR_CANDIDATES } from '../../../schemas/messages/topics.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import type { Installation } from '../../support/children/installation.ts';
import type { ServiceProcess } from '../../support/children/service-process.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

/** A process that is killed by SIGKILL, or hangs by SIGSTOP, and comes back. */
export interface Death {
  kind: string;
  /** How long it is dead; default: half the time between two deaths. */
  deadMs?: number;
  kill: () => Promise<void>;
  revive: () => Promise<void>;
}

/** One death of each kind, in the order in which they happen. */
export function deathsOf(
  engines: ClusterEngines,
  installation: Installation,
  second: ReadonlyMap<string, ServiceProcess>,
): Death[] {
  const services = [...second].map(([name, process]): Death => ({
    kind: `a process of ${name}`,
    kill: () => process.kill(),
    revive: () => {
      process.start();
      return Promise.resolve();
    },
  }));
  const whole: Death = {
    kind: 'a process of all services',
    kill: () => {
      installation.killOne('services-main');
      return Promise.resolve();
    },
    // Its parent starts it again.
    revive: () => Promise.resolve(),
  };
  const [first, other] = [services.slice(0, 3), services.slice(3)];
  return [
    brokerDeath(engines, 'a broker', () => Promise.resolve(2)),
    hangingSeed(engines),
    ...first,
    leaderDeath(engines),
    ...other,
    whole,
    primaryDeath(engines),
  ];
}

function brokerDeath(engines: ClusterEngines, kind: string, choose: () => Promise<number>): Death {
  let killed = 0;
  return {
    kind,
    async kill() {
      killed = await choose();
      const broker = engines.kafka.process(killed);
      process.kill(broker.pid, 'SIGKILL');
      await broker.exited;
    },
    revive: () => engines.kafka.restart(killed),
  };
}

/**
 * The broker that is named first, which new connections ask for the others. It hangs for longer than a client may need
 * to go on without it.
 */
function hangingSeed(engines: ClusterEngines): Death {
  const signal = (name: NodeJS.Signals) => {
    process.kill(engines.kafka.process(1).pid, name);
    return Promise.resolve();
  };
  return {
    kind: 'a hanging broker',
    deadMs: 40_000,
    kill: () => signal('SIGSTOP'),
    revive: () => signal('SIGCONT'),
  };
}

/** The leader of the first partition of candidates. */
function leaderDeath(engines: ClusterEngines): Death {
  const brokers = engines.env.KAFKA_BROKERS.split(',');
  const kafka = createKafka({ brokers, clientId: 'bench', logger: silentLogger() });
  return brokerDeath(engines, 'a leader', async () => {
    const topics = [MONITOR_CANDIDATES.name];
    const metadata = await kafka.withAdmin((admin) => admin.fetchTopicMetadata({ topics }));
    return metadata.topics[0]!.partitions[0]!.leader;
  });
}

/** Only once: the old primary does not come back. */
function primaryDeath(engines: ClusterEngines): Death {
  let isDead = false;
  return {
    kind: "Postgres's primary",
    async kill() {
      if (!isDead) await engines.failOver();
      isDead = true;
    },
    revive: () => Promise.resolve(),
  };
}
