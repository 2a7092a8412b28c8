import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { errorMessage } from '../../../../shared/runtime/errors.ts';
import { identifyProcess } from '../../../../shared/runtime/process-identity.ts';
import type { EngineContext } from '../engine.ts';
import { findProgram } from '../find-program.ts';
import { StartFault } from '../start-fault.ts';
import { cacheFolder } from './cache-folder.ts';
import { downloadJars, MAVEN_CENTRAL } from './download-jars.ts';
import { withUtf8Paths } from './utf8-paths.ts';
import { parseJars, verifyJars } from './verify-jars.ts';
import type { PinnedJar } from './verify-jars.ts';

const POM = join(import.meta.dirname, 'pom.xml');
/** The output of `sha256sum` in Maven's repository. Regenerate it after each change of the pom. */
const CHECKSUMS = join(import.meta.dirname, 'jars.sha256');

/** A folder with the broker's jars. If it exists, it is complete. */
export interface KafkaJars {
  folder: string;
  /** The jars in a fixed order, because a class archive is valid only for the class path of its creation. */
  classPath: string;
}

/**
 * Returns the broker's jars from the user's cache folder, which all clones share. Missing jars are fetched into a
 * temporary folder, which is renamed when it is complete: with Maven where it is installed, so that its settings and
 * mirrors apply; otherwise, or if KAFKA_JARS_URL is set, over HTTPS. The checksums are verified after the fetch and at
 * each start. Nothing is fetched, and no network is needed, when the folder is complete.
 *
 * @throws StartFault when the jars cannot be fetched, or a checksum differs.
 */
export async function kafkaJars(context: EngineContext): Promise<KafkaJars> {
  const pom = readFileSync(POM, 'utf8');
  const version = /<kafka\.version>([^<]+)</.exec(pom)?.[1] ?? 'unknown';
  const digest = createHash('sha256').update(pom).digest('hex').slice(0, 8);
  const cache = cacheFolder(context);
  const folder = join(cache, `kafka-${version}-${digest}`);
  const pinned = parseJars(readFileSync(CHECKSUMS, 'utf8'));
  if (!existsSync(folder)) await fetchJars(context, { version, cache, folder, pinned });
  verifyJars(folder, pinned);
  const jars = readdirSync(folder).filter((file) => file.endsWith('.jar'));
  return {
    folder,
    classPath: jars
      .sort()
      .map((jar) => join(folder, jar))
      .join(':'),
  };
}

interface Fetch {
  version: string;
  cache: string;
  /** Where the jars are in the end. */
  folder: string;
  pinned: readonly PinnedJar[];
}

async function fetchJars(context: EngineContext, fetch: Fetch): Promise<void> {
  const maven = findProgram('mvn', context.env);
  const repository = context.env['KAFKA_JARS_URL'];
  const withMaven = maven !== undefined && !repository;
  const { progress } = context;
  progress(`downloading Kafka ${fetch.version}${withMaven ? ' with Maven' : ''} (43 MB, once) into ${fetch.folder}`);
  const started = performance.now();
  const ticking = setInterval(() => {
    progress(`still downloading Kafka (${Math.round((performance.now() - started) / 1000)} s)`);
  }, 10_000);
  try {
    if (withMaven) await fetchWithMaven(context, maven, fetch);
    else await fetchDirectly(context, repository || MAVEN_CENTRAL, fetch);
  } finally {
    clearInterval(ticking);
  }
}

/** An interrupted fetch leaves nothing behind, and two concurrent fetches do not interfere. */
async function fetchWithMaven(context: EngineContext, maven: string, { cache, folder, pinned }: Fetch): Promise<void> {
  const fresh = mkdtempSync(join(cache, 'fetching-'));
  try {
    // Maven writes to the pom's folder, so it gets a copy of the pom: a read-only checkout works too.
    cpSync(POM, join(fresh, 'pom.xml'));
    await runMaven(context, maven, fresh);
    rmSync(join(fresh, 'pom.xml'));
    verifyJars(fresh, pinned);
    renameIfAbsent(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** An interrupted fetch is continued by the next one. One that runs beside another starts its own. */
async function fetchDirectly(
  context: EngineContext,
  repository: string,
  { cache, folder, pinned }: Fetch,
): Promise<void> {
  const shared = `${folder}.part`;
  const owner = `${shared}.owner`;
  const isAlone = claim(owner);
  const fresh = isAlone ? shared : mkdtempSync(join(cache, 'fetching-'));
  try {
    await downloadJars({ repository, jars: pinned, folder: fresh, env: context.env, signal: context.signal });
    verifyJars(fresh, pinned);
    renameIfAbsent(fresh, folder);
    rmSync(fresh, { recursive: true, force: true });
  } finally {
    if (isAlone) rmSync(owner, { force: true });
    else rmSync(fresh, { recursive: true, force: true });
  }
}

/** Claims a file for this process; false while a living process holds it. */
function claim(owner: string): boolean {
  const own = `${process.pid} ${identifyProcess(process.pid)?.startedAt ?? ''}`;
  try {
    writeFileSync(owner, own, { flag: 'wx' });
    return true;
  } catch {
    const [pid = '', startedAt = ''] = readFileSync(owner, 'utf8').split(' ');
    if (identifyProcess(Number(pid))?.startedAt === startedAt) return false;
    writeFileSync(owner, own);
    return true;
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
      env: withUtf8Paths(context.env),
      maxBuffer: 16 * 1024 * 1024,
      ...(context.signal ? { signal: context.signal } : {}),
    });
  } catch (error) {
    if (context.signal?.aborted === true) throw new StartFault('the download of Kafka was interrupted');
    const output = (error as { stdout?: unknown }).stdout;
    const said = typeof output === 'string' ? output.trim().split('\n').slice(0, 8).join('\n') : '';
    throw new StartFault(
      `Maven could not download Kafka: ${said === '' ? errorMessage(error) : said}\n` +
        'Check the network connection, or set KAFKA_JARS_URL to a Maven repository that is read without Maven. Without a network, set KAFKA_BROKERS to a running cluster, or use Docker compose (deploy/).',
    );
  }
}

function renameIfAbsent(fresh: string, folder: string): void {
  try {
    renameSync(fresh, folder);
  } catch (error) {
    // A concurrent fetch was complete first; use its folder.
    if (!existsSync(folder)) throw error;
  }
}

/** Returns the message about a missing program, with the three solutions. */
export function missingProgram(what: string): string {
  return (
    `${what} was not found. Do one of the following:\n` +
    '  1. install Java 17 or newer (Debian: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk)\n' +
    '  2. use a running Kafka cluster: KAFKA_BROKERS=host:port\n' +
    '  3. run everything in containers: docker compose (see deploy/)'
  );
}
