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
