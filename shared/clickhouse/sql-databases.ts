/** The database of an installation's archive, and the empty one in which statements of customers run. */
export interface SqlDatabases {
  archive: string;
  sandbox: string;
  /** The URL of the archive with the sandbox as its database. */
  sandboxUrl: string;
}

/** @param url of the archive; its path is the database, by default `default` */
export function sqlDatabases(url: string): SqlDatabases {
  const sandboxUrl = new URL(url);
  const named = decodeURIComponent(sandboxUrl.pathname.replace(/^\//, ''));
  const archive = named === '' ? 'default' : named;
  const sandbox = `${archive}_sql`;
  sandboxUrl.pathname = `/${sandbox}`;
  return { archive, sandbox, sandboxUrl: sandboxUrl.href };
}
