import type { PortName } from '../ports.ts';

/** Required on both listeners, by SASL/PLAIN. No character in it needs escaping. */
export interface KafkaCredential {
  user: string;
  password: string;
}

/**
 * server.properties of a node that is broker and controller.
 *
 * The log directory is relative to the working directory, so no path needs escaping. On a single node every replication
 * factor must be 1, or consumers wait forever. Both listeners require the password, because access to the controller
 * gives control of the cluster. The short session lets a broker register again 2.5 s after a kill -9 instead of 12 s.
 * Offsets are kept for 45 days, longer than dead letters, so that a replay knows which letters it has published. The
 * retention here applies to topics without one of their own. The cleaner's buffer, the smallest allowed, has room for
 * 40,000 keys: only the offsets of consumer groups are compacted. An idle cluster's metadata log gets a record every 5
 * s instead of every half second.
 */
export function kafkaProperties(ports: Record<PortName, number>, { user, password }: KafkaCredential): string {
  const { kafka: port, 'kafka-controller': controllerPort } = ports;
  const login = `org.apache.kafka.common.security.plain.PlainLoginModule required username="${user}" password="${password}" user_${user}="${password}";`;
  return `process.roles=broker,controller
node.id=1
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
controller.quorum.voters=1@127.0.0.1:${controllerPort}
log.dirs=data
broker.session.timeout.ms=2500
broker.heartbeat.interval.ms=500
metadata.max.idle.interval.ms=5000
controlled.shutdown.enable=true
auto.create.topics.enable=false
num.partitions=1
default.replication.factor=1
offsets.topic.num.partitions=4
offsets.retention.minutes=64800
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=2
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
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
