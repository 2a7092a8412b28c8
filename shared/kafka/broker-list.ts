import { readFileSync } from 'node:fs';
import type { KafkaConfig, SASLOptions } from 'kafkajs';

/** A broker in KAFKA_BROKERS or endpoints.json: host:port, or [kafka://]user:password@host:port for SASL. */
export const BROKER = /^(?:kafka:\/\/)?(?:([^:@/\s,]+):([^:@/\s,]+)@)?([^:@/\s,]+:\d+)$/;

/**
 * Parses the brokers and the credential of a client. The credential of one broker applies to all. User and password are
 * percent-encoded.
 *
 * @throws Error for an entry of another form, and when two credentials differ
 */
export function parseBrokers(
  list: readonly string[],
  mechanism: SaslMechanism = 'plain',
): Pick<KafkaConfig, 'sasl'> & { brokers: string[] } {
  const brokers: string[] = [];
  const credentials = new Set<string>();
  for (const entry of list) {
    const [, user, password, address] = BROKER.exec(entry) ?? [];
    if (address === undefined) throw new Error('A Kafka broker is host:port or user:password@host:port.');
    brokers.push(address);
    if (user !== undefined && password !== undefined) credentials.add(`${user}:${password}`);
  }
  const [credential, another] = credentials;
  if (another !== undefined) throw new Error('All Kafka brokers must have the same user and password.');
  if (credential === undefined) return { brokers };
  const [username = '', password = ''] = credential.split(':').map(decodeURIComponent);
  // Its type has one member for each mechanism.
  return { brokers, sasl: { mechanism, username, password } as SASLOptions };
}

export const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
type SaslMechanism = (typeof SASL_MECHANISMS)[number];

export interface KafkaSecurity {
  mechanism: SaslMechanism;
  /** Paths of PEM files; undefined: connections are not encrypted. */
  tls:
    | {
        /** The authorities that brokers' certificates are checked with; undefined: those that Node.js trusts. */
        caFile: string | undefined;
        /** This client's certificate and its key, for brokers that ask for one. */
        certificateFile: string | undefined;
        keyFile: string | undefined;
      }
    | undefined;
}

export const NO_SECURITY: KafkaSecurity = { mechanism: 'plain', tls: undefined };

/**
 * The TLS options of a client. The brokers' names are checked against their certificates.
 *
 * @throws Error that names a file which cannot be read
 */
export function tlsOptions({ tls }: KafkaSecurity): Pick<KafkaConfig, 'ssl'> {
  if (tls === undefined) return {};
  const { caFile, certificateFile, keyFile } = tls;
  return {
    ssl: {
      ...(caFile !== undefined && { ca: [readPem(caFile)] }),
      ...(certificateFile !== undefined && { cert: readPem(certificateFile) }),
      ...(keyFile !== undefined && { key: readPem(keyFile) }),
    },
  };
}

function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`The file ${file} for connections to Kafka cannot be read.`, { cause: error });
  }
}
