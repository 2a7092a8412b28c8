import type { KafkaConfig, SASLOptions } from 'kafkajs';
import type { SaslMechanism } from './kafka-security.ts';

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
  if (another !== undefined) throw new Error('All Kafka brokers take the same user and password.');
  if (credential === undefined) return { brokers };
  const [username = '', password = ''] = credential.split(':').map(decodeURIComponent);
  // Its type has one member for each mechanism.
  return { brokers, sasl: { mechanism, username, password } as SASLOptions };
}
