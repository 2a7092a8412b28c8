import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { errorMessage } from '../../../../shared/runtime/errors.ts';
import type { EngineContext } from '../engine.ts';
import { findProgram } from '../find-program.ts';
import { StartFault } from '../start-fault.ts';
import { parseChecksums, verifyJars } from './verify-jars.ts';
import type { Checksums } from './verify-jars.ts';

const POM = join(import.meta.dirname, 'pom.xml');
/** Made by `sha256sum *.jar` in a folder that was fetched; made anew with each change of the pom. */
const CHECKSUMS = join(import.meta.dirname, 'jars.sha256');

/** A folder with the broker's jars; complete whenever it exists. */
export interface KafkaJars {
  folder: string;
  /** The jars in a fixed order: a class archive is only valid for the class path it was made with. */
  classPath: string;
}

/**
 * The jars of the broker, from the user's cache folder, which all clones share; fetched with Maven when they are
 * missing. They are copied to a folder of their own first and renamed when complete, so an interrupted fetch leaves
 * nothing behind and two fetches at once do not disturb each other. Their checksums are verified before they are kept,
 * and at each start.
 *
 * @throws StartFault when Maven is missing or fails, or a jar is not the one expected.
 */
export async function kafkaJars(context: EngineContext): Promise<KafkaJars> {
  const pom = readFileSync(POM, 'utf8');
  const version = /<kafka\.version>([^<]+)</.exec(pom)?.[1] ?? 'unknown';
  const digest = createHash('sha256').update(pom).digest('hex').slice(0, 8);
  const cache = cacheFolder(context);
  const folder = join(cache, `kafka-${version}-${digest}`);
  const checksums = parseChecksums(readFileSync(CHECKSUMS, 'utf8'));
  if (!existsSync(folder)) await fetchJars(context, { version, cache, folder, checksums });
  verifyJars(folder, checksums);
  const jars = readdirSync(folder).filter((file) => file.endsWith('.jar'));
  return {
    folder,
    classPath: jars
      .sort()
      .map((jar) => join(folder, jar))
      .join(':'),
  };
}

function cacheFolder(context: EngineContext): string {
  const base = context.env['XDG_CACHE_HOME'] ?? join(context.env['HOME'] ?? homedir(), '.cache');
  for (const folder of [join(base, 'forum-monitor'), join(context.dataDir, 'cache')]) {
    try {
      mkdirSync(folder, { recursive: true });
      accessSync(folder, constants.W_OK);
      return folder;
    } catch {
      // A home that cannot be written to: the data directory always can.
    }
  }
  throw new StartFault(`No folder for Kafka's jars: neither ${base} nor ${context.dataDir} can be written to.`);
}

async function fetchJars(
  context: EngineContext,
  { version, cache, folder, checksums }: { version: string; cache: string; folder: string; checksums: Checksums },
): Promise<void> {
  const maven = findProgram('mvn', context.env);
  if (maven === undefined) throw new StartFault(missingProgram('Maven (mvn), which fetches the Kafka broker once,'));
  context.progress(`fetching Kafka ${version} with Maven (43 MB, once) into ${folder}`);
  const started = performance.now();
  const ticking = setInterval(() => {
    context.progress(`still fetching Kafka (${Math.round((performance.now() - started) / 1000)} s)`);
  }, 10_000);
  const fresh = mkdtempSync(join(cache, 'fetching-'));
  try {
    // Maven writes beside the pom: it gets a copy, so that a read-only checkout works too.
    cpSync(POM, join(fresh, 'pom.xml'));
    await runMaven(context, maven, fresh);
    rmSync(join(fresh, 'pom.xml'));
    verifyJars(fresh, checksums);
    renameIfAbsent(fresh, folder);
  } finally {
    clearInterval(ticking);
    rmSync(fresh, { recursive: true, force: true });
  }
}

async function runMaven(context: EngineContext, maven: string, folder: string): Promise<void> {
  const args = [
    '-q',
    '-B',
    '-f',
    join(folder, 'pom.xml'),
    'dependency:copy-dependencies',
    `-DoutputDirectory=${folder}`,
  ];
  try {
    await promisify(execFile)(maven, args, {
      cwd: folder,
      env: context.env,
      maxBuffer: 16 * 1024 * 1024,
      ...(context.signal ? { signal: context.signal } : {}),
    });
  } catch (error) {
    if (context.signal?.aborted === true) throw new StartFault('fetching Kafka was interrupted');
    const output = (error as { stdout?: unknown }).stdout;
    const said = typeof output === 'string' ? output.trim().split('\n').slice(0, 8).join('\n') : '';
    throw new StartFault(
      `Maven could not fetch Kafka: ${said === '' ? errorMessage(error) : said}\n` +
        'Is the network there? Without it, name a running cluster in KAFKA_BROKERS, or use Docker compose (deploy/).',
    );
  }
}

function renameIfAbsent(fresh: string, folder: string): void {
  try {
    renameSync(fresh, folder);
  } catch (error) {
    // Someone else's fetch was complete first: theirs is as good as ours.
    if (!existsSync(folder)) throw error;
  }
}

/** One message that names the three ways out. */
export function missingProgram(what: string): string {
  return (
    `${what} was not found. Three ways out:\n` +
    '  1. install Java 17 or newer and Maven (Debian: apt-get install openjdk-17-jre-headless maven; macOS: brew install openjdk maven)\n' +
    '  2. name a running Kafka cluster: KAFKA_BROKERS=host:port\n' +
    '  3. run everything in containers: docker compose (see deploy/)'
  );
}
