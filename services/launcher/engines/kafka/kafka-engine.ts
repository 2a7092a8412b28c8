import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { errorMessage } from '../../../../shared/runtime/errors.ts';
import { findProgram, persistedSecret, StartFault } from '../engine.ts';
import type { Engine, EngineContext } from '../engine.ts';
import { awaitReady, logSize, logTail, startOwnedProcess } from '../owned-process.ts';
import type { OwnedProcess, ProcessEnd } from '../owned-process.ts';
import type { PortName } from '../ports.ts';
import { kafkaJars } from './kafka-jars.ts';
import type { KafkaJars } from './kafka-jars.ts';

export interface KafkaEngineOptions {
  heapMb: number;
  /** Of a node of a larger cluster: its id, and properties instead of a single node's. */
  cluster?: { clusterId: string; properties: string };
}

interface Paths {
  home: string;
  properties: string;
  meta: string;
  log: string;
  pidFile: string;
}

export function kafkaEngine(context: EngineContext, options: KafkaEngineOptions): Engine {
  const home = join(context.dataDir, 'kafka');
  const paths: Paths = {
    home,
    properties: join(home, 'server.properties'),
    meta: join(home, 'data', 'meta.properties'),
    log: join(context.dataDir, 'logs', 'kafka.log'),
    pidFile: join(context.dataDir, 'run', 'kafka.pid'),
  };
  const { cluster, heapMb } = options;
  let prepared: { java: string; jars: KafkaJars } | undefined;
  return {
    name: 'kafka',
    stopSignal: 'SIGTERM',
    pidFile: paths.pidFile,
    async prepare() {
      const java = findProgram('java', context.env);
      if (java === undefined) throw new StartFault(missingProgram('Java, which the Kafka broker needs,'));
      prepared = { java, jars: await kafkaJars(context) };
    },
    async start(ports) {
      if (prepared === undefined) throw new Error('prepare() comes before start()');
      mkdirSync(home, { recursive: true });
      writePrivately(paths.properties, kafkaProperties(ports, kafkaCredential(context)) + (cluster?.properties ?? ''));
      const { java, jars } = prepared;
      const clusterId = cluster?.clusterId ?? clusterIdFrom(randomBytes(16));
      if (!existsSync(paths.meta)) await format(context, { java, jars, paths, clusterId });
      return run(context, { java, jars, paths, heapMb });
    },
    url(ports) {
      const { user, password } = kafkaCredential(context);
      return `kafka://${user}:${password}@127.0.0.1:${ports.kafka}`;
    },
  };
}

function kafkaCredential({ dataDir }: EngineContext): KafkaCredential {
  return { user: 'forum', password: persistedSecret(dataDir, 'kafka') };
}

/** Creates the file again, readable only by the owner, because it contains the password. */
function writePrivately(path: string, text: string): void {
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode: 0o600 });
}

/**
 * Formats the storage. Formatting writes meta.properties last, so without this file nothing was ever stored, and the
 * rest of an interrupted attempt can be removed.
 */
async function format(
  context: EngineContext,
  { java, jars, paths, clusterId }: Pick<Run, 'java' | 'jars' | 'paths'> & { clusterId: string },
): Promise<void> {
  context.note?.("formatting Kafka's storage");
  rmSync(join(paths.home, 'data'), { recursive: true, force: true });
  const args = [...jvmArgs(64), ...shareArgs(jars), '-cp', jars.classPath, 'kafka.tools.StorageTool', 'format'];
  try {
    await promisify(execFile)(java, [...args, '-t', clusterId, '-c', paths.properties], {
      cwd: paths.home,
      env: withUtf8Paths(context.env),
      ...(context.signal ? { signal: context.signal } : {}),
    });
  } catch (error) {
    throw new StartFault(`Kafka's storage could not be formatted: ${explain(errorMessage(error))}`);
  }
}

/**
 * Returns a cluster id: 22 characters of base64url. The top bit is cleared, so that it never begins with a dash, which
 * the storage tool would parse as an option.
 */
export function clusterIdFrom(random: Buffer): string {
  const bytes = Buffer.from(random);
  bytes[0] = bytes[0]! & 0x7f;
  return bytes.toString('base64url');
}

interface Run {
  java: string;
  jars: KafkaJars;
  paths: Paths;
  heapMb: number;
}

async function run(context: EngineContext, { java, jars, paths, heapMb }: Run): Promise<OwnedProcess> {
  const archive = archivePath(jars);
  const dump = existsSync(archive) ? undefined : `${archive}.new`;
  const archiveArgs = dump === undefined ? shareArgs(jars) : [`-XX:ArchiveClassesAtExit=${dump}`];
  const logFrom = logSize(paths.log);
  const broker = await startOwnedProcess({
    name: 'kafka',
    command: java,
    args: [...jvmArgs(heapMb), ...archiveArgs, '-cp', jars.classPath, 'kafka.Kafka', paths.properties],
    env: withUtf8Paths(context.env),
    cwd: paths.home,
    pidFile: paths.pidFile,
    marker: paths.properties,
    output: paths.log,
    stopSignal: 'SIGTERM',
    stopDeadlineMs: 15_000,
  });
  if (dump !== undefined) void broker.exited.then((end) => keepArchive(dump, archive, end));
  const probe = async () => {
    // The port opens before the broker can serve; this line follows when the cluster has registered it.
    if (!readFileSync(paths.log).subarray(logFrom).includes(STARTED))
      throw new Error('the broker is not registered yet');
  };
  try {
    await awaitReady({ process: broker, probe, deadlineMs: 60_000, log: paths.log, logFrom, signal: context.signal });
  } catch (error) {
    // Other runs share it, so it may be damaged: the next start makes it again.
    rmSync(archive, { force: true });
    const tail = logTail(paths.log, logFrom);
    throw isOldJava(tail) ? new StartFault(explain(tail)) : error;
  }
  return broker;
}

const STARTED = 'Kafka Server started';

function jvmArgs(heapMb: number): string[] {
  return [
    '-Xms32m',
    `-Xmx${heapMb}m`,
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    // A small young generation that grows with the old one: nearly all of it would be garbage, and resident.
    '-XX:NewSize=8m',
    '-XX:NewRatio=5',
    // Where the system allows it; a quarter of the broker's processor time on a virtual machine.
    '-XX:+UseTransparentHugePages',
    // Counters that are written twenty times a second, for tools that nobody uses here.
    '-XX:-UsePerfData',
    '-XX:+ExitOnOutOfMemoryError',
    '-Xlog:disable',
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
    '-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info',
    '-Dorg.slf4j.simpleLogger.showDateTime=true',
    '-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss,SSS',
  ];
}

/** The archive of loaded classes, written at the first clean stop. It makes later starts about a second faster. */
function archivePath(jars: KafkaJars): string {
  return join(jars.folder, 'classes.jsa');
}

/** With -Xshare:auto the JVM ignores an archive of another Java version. */
function shareArgs(jars: KafkaJars): string[] {
  const archive = archivePath(jars);
  return existsSync(archive) ? [`-XX:SharedArchiveFile=${archive}`, '-Xshare:auto'] : [];
}

function keepArchive(dump: string, archive: string, end: ProcessEnd): void {
  // 143: a clean stop after SIGTERM, so the archive is complete. A killed broker may leave an incomplete one.
  const complete = existsSync(dump) && (end.code === 0 || end.code === 143);
  if (complete) renameSync(dump, archive);
  else rmSync(dump, { force: true });
}

const isOldJava = (text: string) =>
  /UnsupportedClassVersionError|Unrecognized VM option|UnsupportedClassVersion/.test(text);

function explain(text: string): string {
  return isOldJava(text) ? missingProgram('Java 17 or newer (an older one is on the PATH)') : text;
}

/**
 * The environment for a Java program. In the locale "C", which cron and containers have, Java cannot open paths with
 * letters beyond ASCII. So where no locale with UTF-8 is named, it gets one that every system has.
 */
function withUtf8Paths(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  // The first that is set and not empty counts, as in setlocale(3).
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return /utf-?8/i.test(locale) ? env : { ...env, LC_ALL: 'C.UTF-8' };
}

function missingProgram(what: string): string {
  return (
    `${what} was not found. Do one of the following:\n` +
    '  1. install Java 17 or newer (Debian: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk)\n' +
    '  2. use a running Kafka cluster: KAFKA_BROKERS=host:port\n' +
    '  3. run everything in containers: docker compose (see deploy/)'
  );
}

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
