import { insyncReplicas } from '../../../../shared/kafka/topics/topic-settings.ts';

export interface KafkaPropertiesOptions {
  port: number;
  controllerPort: number;
  /** Required on both listeners, by SASL/PLAIN. No character in it needs escaping. */
  credential: KafkaCredential;
  /** Default: a single node. */
  cluster?: KafkaMembership | undefined;
}

/** The place of a node in a cluster on this host, in which each node is broker and controller. */
export interface KafkaMembership {
  /** From 1. */
  node: number;
  /** Of all nodes, by number, from node 1 on. */
  controllerPorts: readonly number[];
}

export interface KafkaCredential {
  user: string;
  password: string;
}

/**
 * Returns server.properties of a node that is broker and controller.
 *
 * The log directory is relative to the working directory, so no path needs escaping. On a single node every replication
 * factor must be 1, or consumers wait forever; with three or more nodes each is 3, of which two must be in sync. Both
 * listeners require the password, because access to the controller gives control of the cluster. The short session
 * lets a broker register again 2.5 s after a kill -9 instead of 12 s. Offsets are kept for 45 days, longer than dead
 * letters, so that a replay knows which letters it has published. Topics set their own retention; the values here apply
 * to topics that do not. The cleaner's buffer, the smallest allowed, has room for 40,000 keys: only the offsets of
 * consumer groups are compacted. While nothing of the cluster changes, its metadata log gets a record every 5 s instead
 * of every half second.
 */
export function kafkaProperties(options: KafkaPropertiesOptions): string {
  const { port, controllerPort, credential } = options;
  const { node, controllerPorts } = options.cluster ?? { node: 1, controllerPorts: [controllerPort] };
  const voters = controllerPorts.map((voterPort, index) => `${index + 1}@127.0.0.1:${voterPort}`).join(',');
  const replicas = controllerPorts.length >= 3 ? 3 : 1;
  const insync = insyncReplicas(replicas);
  const { user, password } = credential;
  const login = `org.apache.kafka.common.security.plain.PlainLoginModule required username="${user}" password="${password}" user_${user}="${password}";`;
  return `process.roles=broker,controller
node.id=${node}
listeners=CLIENT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}
advertised.listeners=CLIENT://127.0.0.1:${port}
listener.security.protocol.map=CLIENT:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT
inter.broker.listener.name=CLIENT
controller.listener.names=CONTROLLER
sasl.enabled.mechanisms=PLAIN
sasl.mechanism.inter.broker.protocol=PLAIN
sasl.mechanism.controller.protocol=PLAIN
listener.name.client.plain.sasl.jaas.config=${login}
listener.name.controller.plain.sasl.jaas.config=${login}
controller.quorum.voters=${voters}
log.dirs=data
broker.session.timeout.ms=2500
broker.heartbeat.interval.ms=500
metadata.max.idle.interval.ms=5000
controlled.shutdown.enable=true
auto.create.topics.enable=false
num.partitions=1
default.replication.factor=${replicas}
offsets.topic.num.partitions=4
offsets.retention.minutes=64800
offsets.topic.replication.factor=${replicas}
transaction.state.log.num.partitions=2
transaction.state.log.replication.factor=${replicas}
transaction.state.log.min.isr=${insync}
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=${replicas}
share.coordinator.state.topic.min.isr=${insync}
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
log.retention.hours=72
log.retention.bytes=536870912
log.segment.bytes=67108864
log.cleaner.threads=1
log.cleaner.dedupe.buffer.size=1100000
num.network.threads=2
num.io.threads=4
background.threads=2
num.recovery.threads.per.data.dir=2
`;
}
