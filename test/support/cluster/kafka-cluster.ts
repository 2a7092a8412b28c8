import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine, EngineContext } from '../../../services/launcher/engines/engine.ts';
import { clusterIdFrom, kafkaEngine } from '../../../services/launcher/engines/kafka/kafka-engine.ts';
import { makeDataDir } from '../../../services/launcher/engines/data-dir-lock.ts';
import { endOrphan } from '../../../services/launcher/engines/owned-process.ts';
import type { OwnedProcess } from '../../../services/launcher/engines/owned-process.ts';
import { persistedSecret } from '../../../services/launcher/engines/engine.ts';
import { reservePorts } from '../../../services/launcher/engines/ports.ts';
import type { PortName } from '../../../services/launcher/engines/ports.ts';

/** Brokers on this host that form one cluster; each is a controller too. */
export interface KafkaCluster {
  /** Names all brokers. */
  url: string;
  /** The process of a broker, by its number from 1. */
  process(node: number): OwnedProcess;
  /** Starts a broker again that has ended. Resolves when it serves. */
  restart(node: number): Promise<void>;
  stop(): Promise<void>;
}

/** With a small heap each: they share a machine. */
const HEAP_MB = 256;

interface Node {
  engine: Engine;
  ports: Record<PortName, number>;
  process?: OwnedProcess;
}

/** Starts `brokers` brokers with data directories below that of the context. @throws StartFault */
export async function startKafkaCluster(
  context: EngineContext,
  brokers: number,
  pickPort: (from: number, to: number) => number,
): Promise<KafkaCluster> {
  persistedSecret(context.dataDir, 'kafka');
  const clusterId = persistedClusterId(context.dataDir);
  const contexts = Array.from({ length: brokers }, (_, index) => {
    const dataDir = join(context.dataDir, `broker-${index + 1}`);
    makeDataDir(dataDir);
    // All nodes have the same password.
    cpSync(join(context.dataDir, 'secrets'), join(dataDir, 'secrets'), { recursive: true });
    return { ...context, dataDir };
  });
  const ports: Record<PortName, number>[] = [];
  for (const { dataDir, progress } of contexts) {
    ports.push(await reservePorts(dataDir, { note: progress, random: pickPort }));
  }
  const voters = ports.map((each, index) => `${index + 1}@127.0.0.1:${each['kafka-controller']}`).join(',');
  const nodes: Node[] = contexts.map((each, index) => ({
    ports: ports[index]!,
    engine: kafkaEngine(each, {
      heapMb: HEAP_MB,
      cluster: { clusterId, properties: clusterProperties(index + 1, voters, brokers) },
    }),
  }));
  const start = async (node: Node) => {
    node.process = await node.engine.start(node.ports);
  };
  for (const { engine } of nodes) await engine.prepare();
  await Promise.all(nodes.map(({ engine }) => endOrphan(engine.pidFile, engine.stopSignal, 10_000)));
  // Together: one alone has no majority to register with.
  await Promise.all(nodes.map(start));
  const processOf = (node: number) => nodes[node - 1]!.process!;
  return {
    url: nodes.map(({ engine, ports: own }) => engine.url(own)).join(','),
    process: processOf,
    restart: (node) => start(nodes[node - 1]!),
    async stop() {
      await Promise.all(nodes.map(async ({ process }) => process?.stop()));
    },
  };
}

/** Of the values of a property the last one counts. */
function clusterProperties(node: number, voters: string, brokers: number): string {
  const [replicas, insync] = brokers >= 3 ? [3, 2] : [1, 1];
  return `node.id=${node}
controller.quorum.voters=${voters}
default.replication.factor=${replicas}
offsets.topic.replication.factor=${replicas}
transaction.state.log.replication.factor=${replicas}
transaction.state.log.min.isr=${insync}
share.coordinator.state.topic.replication.factor=${replicas}
share.coordinator.state.topic.min.isr=${insync}
`;
}

function persistedClusterId(dataDir: string): string {
  const file = join(dataDir, 'kafka-cluster-id');
  if (!existsSync(file)) writeFileSync(file, clusterIdFrom(randomBytes(16)));
  return readFileSync(file, 'utf8');
}
