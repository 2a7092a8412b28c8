import { readFileSync } from 'node:fs';
import type { KafkaConfig } from 'kafkajs';

/** How clients authenticate to the brokers with the user and password of KAFKA_BROKERS. */
export const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
export type SaslMechanism = (typeof SASL_MECHANISMS)[number];

/** How clients connect to the brokers of a cluster. */
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
