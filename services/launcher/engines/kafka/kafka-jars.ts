import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';
import { getCACertificates } from 'node:tls';
import pRetry, { AbortError } from 'p-retry';
import { EnvHttpProxyAgent, fetch } from 'undici';
import { errorCode, errorMessage } from '../../../../shared/runtime/errors.ts';
import type { EngineContext } from '../engine.ts';
import { StartFault } from '../engine.ts';

/** The output of `sha256sum` in Maven's repository. */
const CHECKSUMS = join(import.meta.dirname, 'jars.sha256');
const MAVEN_CENTRAL = 'https://repo.maven.apache.org/maven2';
const AT_ONCE = 4;
/** Without a byte for this long an attempt has failed. */
const SILENCE_MS = 20_000;

export interface KafkaJars {
  folder: string;
  /** The jars in a fixed order, because a class archive is valid only for the class path of its creation. */
  classPath: string;
}

/** A jar whose content is fixed. */
export interface PinnedJar {
  path: string;
  file: string;
  digest: string;
}

export function pinnedJars(): PinnedJar[] {
  const lines = readFileSync(CHECKSUMS, 'utf8').trim().split('\n');
  return lines.map((line) => ({ path: line.slice(66), file: basename(line.slice(66)), digest: line.slice(0, 64) }));
}

/**
 * Returns the broker's jars from the user's cache folder, which all clones share. Those that are missing there, or have
 * another content than the pinned one, are fetched: from Maven's own folder of this user, else from a repository, which
 * is KAFKA_JARS_URL, else the mirror that the user's Maven settings name, else Maven Central. HTTPS_PROXY, HTTP_PROXY
 * and NO_PROXY apply. Checking 43 MB takes 0.1 s; without missing jars no network is needed.
 *
 * @throws StartFault that names the address and what can be done, when a jar cannot be had or has another content
 */
export async function kafkaJars(context: EngineContext, jars: readonly PinnedJar[] = pinnedJars()): Promise<KafkaJars> {
  const list = jars.map(({ path, digest }) => digest + path).join('\n');
  const version = /\/kafka_2\.13\/([^/]+)\//.exec(list)?.[1] ?? 'unknown';
  const digest = createHash('sha256').update(list).digest('hex').slice(0, 8);
  const folder = join(cacheFolder(context), `kafka-${version}-${digest}`);
  mkdirSync(folder, { recursive: true });
  const missing = jars.filter((jar) => digestOf(join(folder, jar.file)) !== jar.digest);
  if (missing.length > 0) await fetchJars(context, { version, folder, missing });
  const files = jars.map(({ file }) => join(folder, file)).sort();
  return { folder, classPath: files.join(':') };
}

/**
 * The folder for what all clones of a user share; in the data directory where the user's cache is not writable.
 *
 * @throws StartFault when neither is writable
 */
function cacheFolder({ env, dataDir }: Pick<EngineContext, 'env' | 'dataDir'>): string {
  const home = homeOf(env);
  const cache = absolute(env['XDG_CACHE_HOME']) ?? (home === undefined ? undefined : join(home, '.cache'));
  const folders = [...(cache === undefined ? [] : [join(cache, 'forum-monitor')]), join(dataDir, 'cache')];
  for (const folder of folders) {
    try {
      mkdirSync(folder, { recursive: true });
      accessSync(folder, constants.W_OK);
      return folder;
    } catch {
      // The home folder is not writable; try the data directory.
    }
  }
  throw new StartFault(`Kafka's jars cannot be stored: not writable is ${folders.join(', nor ')}.`);
}

function homeOf(env: NodeJS.ProcessEnv): string | undefined {
  return absolute(env['HOME']) ?? absolute(homedir());
}

/** Empty and relative paths are to be ignored (XDG Base Directory Specification); a relative one differs by clone. */
function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}

function digestOf(file: string): string | undefined {
  return existsSync(file) ? sha256(readFileSync(file)) : undefined;
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Each jar appears with its complete content, so an interrupted fetch continues, and two do not interfere. */
async function fetchJars(
  { env, progress, signal }: EngineContext,
  { version, folder, missing }: { version: string; folder: string; missing: readonly PinnedJar[] },
): Promise<void> {
  const home = homeOf(env);
  const repository = env['KAFKA_JARS_URL'] || mavenMirror(home) || MAVEN_CENTRAL;
  progress(`downloading Kafka ${version} (43 MB, once) from ${shown(repository)} into ${folder}`);
  const dispatcher = proxyAgent(env);
  const failed = new AbortController();
  const source = {
    repository,
    dispatcher,
    signal: AbortSignal.any([failed.signal, ...(signal === undefined ? [] : [signal])]),
  };
  const left = [...missing];
  const ticking = setInterval(() => progress(`still downloading Kafka: ${left.length} jars are left`), 5_000);
  const worker = async () => {
    for (let jar = left.shift(); jar !== undefined; jar = left.shift()) {
      const local = home === undefined ? '' : join(home, '.m2/repository', jar.path);
      const content = digestOf(local) === jar.digest ? readFileSync(local) : await download(jar, source);
      const fresh = join(folder, `${jar.file}.${process.pid}`);
      writeFileSync(fresh, content);
      renameSync(fresh, join(folder, jar.file));
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  } catch (error) {
    failed.abort();
    throw signal?.aborted === true ? new StartFault('the download of Kafka was interrupted') : error;
  } finally {
    clearInterval(ticking);
    await dispatcher.close();
  }
}

/** The mirror of Maven Central, or of everything, in the Maven settings of a user. */
function mavenMirror(home: string | undefined): string | undefined {
  const file = join(home ?? '/', '.m2/settings.xml');
  if (!existsSync(file)) return undefined;
  const [before = '', ...rest] = readFileSync(file, 'utf8').split('<!--');
  const text = before + rest.map((part) => part.slice(part.indexOf('-->') + 3)).join('');
  const textOf = (name: string, xml: string) => xml.split(`<${name}>`)[1]?.split(`</${name}>`)[0]?.trim();
  const mirrors = text.split('<mirror>').slice(1);
  const mirror = mirrors.find((xml) => /^(\*|central|external:\*)(,|$)/.test(textOf('mirrorOf', xml) ?? ''));
  return mirror === undefined ? undefined : textOf('url', mirror);
}

/** @throws StartFault without the address, which may hold a password */
function proxyAgent(env: NodeJS.ProcessEnv): EnvHttpProxyAgent {
  // As curl takes it: http:// where no scheme is given.
  const proxy = (...names: string[]) => {
    const given = names.map((name) => env[name]?.trim()).find((value) => value !== undefined) ?? '';
    return given === '' || given.includes('://') ? given : `http://${given}`;
  };
  // A company's proxy has a certificate that only the system's store knows.
  const tls = { ca: [...getCACertificates('default'), ...getCACertificates('system')] };
  try {
    return new EnvHttpProxyAgent({
      httpProxy: proxy('http_proxy', 'HTTP_PROXY'),
      httpsProxy: proxy('https_proxy', 'HTTPS_PROXY'),
      noProxy: env['no_proxy'] ?? env['NO_PROXY'] ?? '',
      headersTimeout: SILENCE_MS,
      bodyTimeout: SILENCE_MS,
      connect: tls,
      requestTls: tls,
      proxyTls: tls,
    });
  } catch {
    throw new StartFault(
      'HTTPS_PROXY or HTTP_PROXY is no address of a proxy. Set it to one like http://proxy.example:3128, or unset it.',
    );
  }
}

interface Source {
  repository: string;
  dispatcher: EnvHttpProxyAgent;
  signal: AbortSignal;
}

const WAYS =
  'Check the network connection and the proxy (HTTPS_PROXY), or set KAFKA_JARS_URL to a Maven repository that you reach. Without a network, set KAFKA_BROKERS to a running cluster. What was downloaded is kept; the next start continues.';

/** @throws StartFault */
async function download(jar: PinnedJar, { repository, dispatcher, signal }: Source): Promise<Buffer> {
  const url = new URL(`${repository.replace(/(?<!\/)\/+$/, '')}/${jar.path}`);
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = url.password = '';
  // fetch sends it to the repository only, not to where that redirects.
  const headers = credentials === ':' ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
  const attempt = async (): Promise<Buffer> => {
    const response = await fetch(url, { dispatcher, headers, signal });
    const content = Buffer.from(await response.arrayBuffer());
    if (response.ok && sha256(content) === jar.digest) return content;
    const fault = response.ok
      ? `${jar.file} of ${shown(repository)} does not have the expected checksum, so it was not kept.`
      : `${shown(repository)} answered ${response.status} for ${jar.path}, which Kafka needs.`;
    const error = new StartFault(`${fault}\n${WAYS}`);
    // A busy or broken repository may answer later.
    throw response.status === 429 || response.status >= 500 ? error : new AbortError(error);
  };
  try {
    return await pRetry(attempt, { retries: 3, minTimeout: 1_000, signal });
  } catch (error) {
    if (error instanceof StartFault) throw error;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = errorMessage(cause) || errorCode(cause) || 'no answer';
    throw new StartFault(`The download of ${jar.file} from ${shown(repository)} failed (${reason}).\n${WAYS}`);
  }
}

/** Without user and password. */
function shown(repository: string): string {
  const url = new URL(repository);
  url.username = url.password = '';
  return url.href.replace(/\/$/, '');
}
