import type { KafkaConfig } from 'kafkajs';

/** What KAFKA_BROKERS and endpoints.json may name: host:port, or [kafka://]user:password@host:port for SASL/PLAIN. */
export const BROKER = /^(?:kafka:\/\/)?(?:([^:@/\s,]+):([^:@/\s,]+)@)?([^:@/\s,]+:\d+)$/;

/**
 * Brokers and credential of a client. A credential of one broker counts for all; user and password are percent-encoded.
 *
 * @throws Error for an entry of another shape, and when two credentials differ
 */
export function parseBrokers(list: readonly string[]): Pick<KafkaConfig, 'sasl'> & { brokers: string[] } {
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
  return { brokers, sasl: { mechanism: 'plain', username, password } };
}
