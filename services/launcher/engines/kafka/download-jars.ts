import { createHash } from 'node:crypto';
import { createWriteStream, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { EnvHttpProxyAgent, request } from 'undici';
import type { Dispatcher } from 'undici';
import { delay } from '../../../../shared/runtime/clock.ts';
import { errorCode, errorMessage } from '../../../../shared/runtime/errors.ts';
import { StartFault } from '../start-fault.ts';
import type { PinnedJar } from './verify-jars.ts';

/** Where Maven gets its artifacts, too, unless it is told otherwise. */
export const MAVEN_CENTRAL = 'https://repo.maven.apache.org/maven2';

const AT_ONCE = 4;
/** Of a jar; each continues where the last one was cut. */
const ATTEMPTS = 4;
/** Without a byte for this long an attempt has failed. */
const SILENCE_MS = 20_000;
const MOST_REDIRECTS = 5;

export interface DownloadDeps {
  /** The repository's address, with user:password@ where it asks for them. */
  repository: string;
  jars: readonly PinnedJar[];
  /** Keeps what was downloaded, also of a jar that was cut, for the next call. Created if missing. */
  folder: string;
  /** HTTPS_PROXY, HTTP_PROXY and NO_PROXY apply. */
  env: NodeJS.ProcessEnv;
  signal?: AbortSignal | undefined;
  /** The wait before the second attempt; it doubles each time. Default 1 s. */
  retryMs?: number;
}

/**
 * Downloads jars into a folder and compares each with its pinned SHA-256. What is there is not downloaded again, and a
 * download that was cut continues where it ended, now or in the next call.
 *
 * @throws StartFault that names the address and what can be done, when a jar cannot be had or has another content
 */
export async function downloadJars(deps: DownloadDeps): Promise<void> {
  const { env, jars, folder } = deps;
  mkdirSync(folder, { recursive: true });
  const dispatcher = new EnvHttpProxyAgent({
    httpProxy: proxyAddress(env, 'http_proxy', 'HTTP_PROXY'),
    httpsProxy: proxyAddress(env, 'https_proxy', 'HTTPS_PROXY'),
    noProxy: env['no_proxy'] ?? env['NO_PROXY'] ?? '',
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
  });
  const missing = jars.filter(({ file, digest }) => digestOf(join(folder, file)) !== digest);
  const failed = new AbortController();
  const signal = deps.signal === undefined ? failed.signal : AbortSignal.any([deps.signal, failed.signal]);
  const worker = async () => {
    for (let jar = missing.shift(); jar !== undefined && !signal.aborted; jar = missing.shift()) {
      await downloadJar(jar, { ...deps, signal, dispatcher });
    }
  };
  try {
    await Promise.all(
      Array.from({ length: AT_ONCE }, () =>
        worker().catch((error: unknown) => {
          failed.abort();
          throw error;
        }),
      ),
    );
  } finally {
    await dispatcher.close();
  }
  if (deps.signal?.aborted === true) throw new StartFault('the download of Kafka was interrupted');
}

/**
 * The address of the proxy in the first of these variables that is set; '' for none. Without a scheme it is http://, as
 * curl and wget take it.
 *
 * @throws StartFault that names the variable, without its value, which may hold a password
 */
function proxyAddress(env: NodeJS.ProcessEnv, ...names: string[]): string {
  const name = names.find((one) => env[one] !== undefined);
  const given = name === undefined ? '' : (env[name] ?? '').trim();
  if (name === undefined || given === '') return '';
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(given) ? given : `http://${given}`;
  if (/^(https?|socks5?):$/.test(URL.parse(address)?.protocol ?? '')) return address;
  throw new StartFault(
    `${name} is no address of a proxy. Set it to one like http://proxy.example:3128 (also https:// and socks5://), or unset it.`,
  );
}

type JarDeps = DownloadDeps & { signal: AbortSignal; dispatcher: Dispatcher };

async function downloadJar(jar: PinnedJar, deps: JarDeps): Promise<void> {
  const target = join(deps.folder, jar.file);
  const part = `${target}.part`;
  let waitMs = deps.retryMs ?? 1_000;
  for (let attempt = 1; ; attempt++) {
    try {
      await continueDownload(jar, part, deps);
      if (digestOf(part) === jar.digest) {
        renameSync(part, target);
        return;
      }
      // A mirror may have changed the file between two attempts, so the second one starts anew.
      rmSync(part, { force: true });
      if (attempt > 1) throw new StartFault(wrongContent(jar, deps));
    } catch (error) {
      if (error instanceof StartFault) throw error;
      if (deps.signal.aborted) return;
      if (attempt === ATTEMPTS) throw new StartFault(unreachable(jar, error, deps));
    }
    await delay(waitMs, deps.signal);
    if (deps.signal.aborted) return;
    waitMs *= 2;
  }
}

/** Appends what is missing of the file. @throws StartFault when the repository refuses; Error when it was cut */
async function continueDownload(jar: PinnedJar, part: string, deps: JarDeps): Promise<void> {
  const begun = existsSync(part) ? statSync(part).size : 0;
  const response = await follow(new URL(`${deps.repository.replace(/(?<!\/)\/+$/, '')}/${jar.path}`), begun, deps);
  const { statusCode, body } = response;
  if (statusCode === 416) {
    await body.dump();
    rmSync(part, { force: true });
    throw new Error('the repository has fewer bytes than were downloaded');
  }
  if (statusCode !== 200 && statusCode !== 206) {
    await body.dump();
    // A busy or broken repository may answer later.
    if (statusCode >= 500 || statusCode === 429) throw new Error(`it answered ${statusCode}`);
    throw new StartFault(refused(jar, statusCode, deps));
  }
  await pipeline(body, createWriteStream(part, { flags: statusCode === 206 ? 'a' : 'w' }), { signal: deps.signal });
}

async function follow(url: URL, begun: number, { dispatcher, signal }: JarDeps): Promise<Dispatcher.ResponseData> {
  const origin = url.origin;
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  for (let next = url, redirects = 0; ; redirects++) {
    const target = new URL(next);
    target.username = target.password = '';
    const headers = {
      ...(begun > 0 ? { range: `bytes=${begun}-` } : {}),
      // Only the repository itself may see them.
      ...(credentials !== ':' && target.origin === origin ? { authorization } : {}),
    };
    const response = await request(target, { dispatcher, headers, signal });
    const { location } = response.headers;
    if (response.statusCode < 300 || response.statusCode > 399 || typeof location !== 'string') return response;
    await response.body.dump();
    if (redirects === MOST_REDIRECTS) throw new Error('it redirects again and again');
    next = new URL(location, target);
  }
}

function digestOf(file: string): string | undefined {
  return existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : undefined;
}

const WAYS =
  'Check the network connection and the proxy (HTTPS_PROXY), set KAFKA_JARS_URL to a Maven repository that you reach, or install Maven, whose settings and mirrors are then used. Without a network, set KAFKA_BROKERS to a running cluster.';

function unreachable({ file }: PinnedJar, error: unknown, { repository, folder }: JarDeps): string {
  const reason = errorMessage(error) || errorCode(error) || 'no answer';
  return (
    `The download of Kafka from ${shown(repository)} was cut at ${file} (${reason}).\n` +
    `${WAYS}\nWhat was downloaded is kept in ${folder}; the next start continues.`
  );
}

function refused({ path }: PinnedJar, status: number, { repository }: JarDeps): string {
  return `${shown(repository)} answered ${status} for ${path}, which Kafka needs.\n${WAYS}`;
}

function wrongContent({ file }: PinnedJar, { repository }: JarDeps): string {
  return `${file} of ${shown(repository)} does not have the expected checksum, so it was not kept. That repository or a proxy serves another file: set KAFKA_JARS_URL to another one.`;
}

/** Without user and password. */
function shown(repository: string): string {
  const url = new URL(repository);
  url.username = url.password = '';
  return url.href.replace(/\/$/, '');
}
