import { AdminError } from './admin-error.ts';
import type { KafkaWorkDeps } from './command.ts';

/**
 * A broker without these topics would be asked for them again and again, as if it were starting.
 *
 * @param topics without the prefix
 * @throws AdminError that names those that do not exist
 */
export async function requireTopics(
  { kafka, prefix }: Pick<KafkaWorkDeps, 'kafka' | 'prefix'>,
  topics: readonly string[],
): Promise<void> {
  const existing = new Set(await kafka.withAdmin((admin) => admin.listTopics()));
  const missing = topics.map((topic) => prefix + topic).filter((topic) => !existing.has(topic));
  if (missing.length === 0) return;
  throw new AdminError(
    `Kafka has no topic ${missing.join(', ')}. Start the service once, or set KAFKA_TOPIC_PREFIX to the service's.`,
  );
}
