import pg from 'pg';
import type { Queryable } from './pool.ts';

/**
 * The address of each server in a database URL, `postgres://user:password@HOST:PORT,HOST:PORT/database?options`, in its
 * order: those of a primary and its standbys.
 */
export function addressesOf(url: string): string[] {
  const [scheme = '', rest = ''] = url.split(/(?<=^postgres(?:ql)?:\/\/)/);
  const [authority = ''] = rest.split(/[/?]/, 1);
  const hosts = authority.slice(authority.lastIndexOf('@') + 1);
  if (!hosts.includes(',')) return [url];
  const user = authority.slice(0, authority.length - hosts.length);
  const database = rest.slice(authority.length);
  const named = hosts.split(',').filter((host) => host !== '');
  return named.map((host) => scheme + user + host + database);
}

/** The server that answered is a standby, which takes no writes. */
class StandbyAnswered extends Error {
  /** read_only_sql_transaction: a condition that ends by itself. */
  readonly code = '25006';
}

/**
 * The servers of a database URL, of which one is the primary. When the last one does not answer or has become a
 * standby, the next connection tries the next: a fail-over costs at most as many tries as there are servers.
 */
export class PostgresServers {
  readonly #addresses: readonly string[];
  #current = 0;

  constructor(url: string) {
    this.#addresses = addressesOf(url);
  }

  get areSeveral(): boolean {
    return this.#addresses.length > 1;
  }

  get current(): string {
    return this.#addresses[this.#current]!;
  }

  /** The next connection tries another server, unless one has begun to already. */
  failed(address: string): void {
    if (address === this.current) this.#current = (this.#current + 1) % this.#addresses.length;
  }
}

export function clientClassOf(servers: PostgresServers): typeof pg.Client {
  return class extends pg.Client {
    readonly #address: string;

    constructor(config: pg.ClientConfig) {
      const address = servers.current;
      super({ ...config, connectionString: address });
      this.#address = address;
    }

    override connect(): Promise<this>;
    override connect(done: (error: Error) => void): void;
    override connect(done?: (error: Error) => void): Promise<this> | undefined {
      const connected = super
        .connect()
        .then(() => this.refuseStandby())
        .catch((error: unknown) => {
          servers.failed(this.#address);
          throw error;
        });
      if (done === undefined) return connected.then(() => this);
      connected.then(() => done(undefined as unknown as Error), done);
      return undefined;
    }

    private async refuseStandby(): Promise<void> {
      if (!servers.areSeveral) return;
      // The pool listens to errors once it has the connection; until then the query fails with them.
      const ignore = () => undefined;
      this.on('error', ignore);
      try {
        const { rows } = await this.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
        if (rows[0]?.standby !== true) return;
        await this.end();
        throw new StandbyAnswered('The server is a standby and does not accept writes.');
      } finally {
        this.off('error', ignore);
      }
    }
  };
}

/**
 * Tries the servers of a database URL in turn, each once.
 *
 * @param connectMs the longest wait for each
 * @returns the address of the primary
 * @throws the error of the last server
 */
export async function findPrimary(url: string, connectMs: number): Promise<string> {
  const servers = new PostgresServers(url);
  if (!servers.areSeveral) return url;
  const Client = clientClassOf(servers);
  for (let left = addressesOf(url).length; ; left--) {
    const address = servers.current;
    const client = new Client({ connectionTimeoutMillis: connectMs });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return address;
    } catch (error) {
      if (left === 1) throw error;
    }
  }
}

/** Values of synchronous_commit with which a commit waits until a synchronous standby has it on disk. */
const WAITING = new Set(['on', 'remote_apply']);

/** Commits do not wait for a standby, or none is there to wait for. */
export class StandbyMissing extends Error {
  /** object_not_in_prerequisite_state: a condition that ends by itself or by an operator. */
  readonly code = '55000';
}

/**
 * Why the last commits can be lost with the server; undefined when each waits for a standby. Numbers of matches whose
 * commit is lost are given again, to other things, although programs may have read them.
 */
export async function whyCommitsCanBeLost(db: Queryable): Promise<string | undefined> {
  const { rows } = await db.query<{ names: string; commit: string }>(
    `SELECT current_setting('synchronous_standby_names') AS names, current_setting('synchronous_commit') AS commit`,
  );
  const { names = '', commit = '' } = rows[0] ?? {};
  if (names.trim() === '') return 'synchronous_standby_names is empty';
  if (!WAITING.has(commit)) return `synchronous_commit is ${commit}`;
  return undefined;
}

/**
 * How many standbys are connected that `synchronous_standby_names` lists; undefined where it lists none. A role without
 * pg_monitor does not see which standbys are listed, so all that are connected count.
 */
export async function countSynchronousStandbys(db: Queryable): Promise<number | undefined> {
  const { rows } = await db.query<{ standbys: number | null }>(
    `SELECT CASE WHEN trim(current_setting('synchronous_standby_names')) <> '' THEN (
       SELECT count(*) FROM pg_stat_replication WHERE coalesce(sync_state, '') <> 'async'
     ) END AS standbys`,
  );
  return rows[0]?.standbys ?? undefined;
}

/** How a connection to a server is protected: not at all, against listeners only, or also against other servers. */
export type TransportSecurity = 'none' | 'unverified' | 'verified';

const WITH_TLS = new Set(['prefer', 'require', 'verify-ca', 'verify-full']);

/**
 * How the package pg connects by an address with these options. Other than in libpq, `require` verifies the
 * certificate, unless `uselibpqcompat` is given. A value that pg does not name counts as no protection.
 */
export function transportSecurity(address: URL): TransportSecurity {
  // Of an option that is given twice the last one counts.
  const option = (name: string): string => address.searchParams.getAll(name).at(-1) ?? '';
  const mode = option('sslmode');
  if (mode === '') return withoutMode(option);
  if (mode === 'no-verify') return 'unverified';
  if (!WITH_TLS.has(mode)) return 'none';
  const asLibpq = option('uselibpqcompat') === 'true';
  const isLax = mode === 'prefer' || (mode === 'require' && option('sslrootcert') === '');
  return asLibpq && isLax ? 'unverified' : 'verified';
}

function withoutMode(option: (name: string) => string): TransportSecurity {
  if (['sslcert', 'sslkey', 'sslrootcert'].some((name) => option(name) !== '')) return 'verified';
  const ssl = option('ssl');
  if (ssl === 'no-verify') return 'unverified';
  return ssl === 'true' || ssl === '1' ? 'verified' : 'none';
}
