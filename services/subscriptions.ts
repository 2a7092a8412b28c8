import { groupsOfTopic } from '../schemas/messages/consumer-groups.ts';
import { TOPICS } from '../schemas/messages/topics.ts';
import type { Subscription } from '../shared/kafka/lag-monitor.ts';

/** Each consumer group of an installation with so many groups of matchers, and the topics that it reads. */
export function subscriptionsOf(matcherShards: number): Subscription[] {
  const topics = new Map<string, string[]>();
  for (const { name } of TOPICS) {
    for (const group of groupsOfTopic(name, matcherShards)) topics.set(group, [...(topics.get(group) ?? []), name]);
  }
  return [...topics].map(([group, names]) => ({ group, topics: names }));
}
