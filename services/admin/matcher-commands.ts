import { matcherGroups } from '../../schemas/messages/consumer-groups.ts';
import { parseMatcherCommit } from '../../schemas/messages/matcher-commit.ts';
import { FORUM_COMMENTS, FORUM_POSTS } from '../../schemas/messages/topics.ts';
import { handOverGroups } from '../../shared/kafka/topics/hand-over-groups.ts';
import { connectedGroups } from '../../shared/kafka/topics/raise-partitions.ts';
import { AdminError } from './admin-error.ts';
import type { KafkaCommand, KafkaWorkDeps } from './command.ts';

const MOST_SHARDS = 64;
const ITEMS = [FORUM_POSTS.name, FORUM_COMMENTS.name];

export const MATCHERS_SHARE_OUT: KafkaCommand = {
  name: 'matchers share-out',
  summary: 'share the monitors out over another number of matcher groups, once all matchers are stopped',
  optionsHelp: [
    '--from N               how many groups there are now (MATCHER_SHARDS)',
    '--to N                 how many there will be; then start all services with MATCHER_SHARDS=N',
  ],
  examples: ['matchers share-out --from 1 --to 4'],
  options: { from: { type: 'string' }, to: { type: 'string' } },
  prepare(values) {
    const [from, to] = [shardsOf('--from', values.from), shardsOf('--to', values.to)];
    if (from === to) throw new AdminError('--to: must be another number than --from.');
    return (deps) => shareOut(deps, from, to);
  },
};

function shardsOf(option: string, text = ''): number {
  const shards = /^[1-9]\d?$/.test(text) ? Number(text) : Number.NaN;
  if (!(shards <= MOST_SHARDS)) throw new AdminError(`${option}: must be a whole number from 1 to ${MOST_SHARDS}.`);
  return shards;
}

/**
 * Lets each new group begin where the ring of the slowest old group began. What is read again is published again,
 * which is harmless: the recorder stores each pair once. Without this the new groups would begin with the oldest item.
 */
async function shareOut({ kafka, prefix }: KafkaWorkDeps, from: number, to: number): Promise<object[]> {
  const [before, after] = [matcherGroups(from), matcherGroups(to)];
  const connected = (await connectedGroups(kafka, prefix)).filter((group) => [...before, ...after].includes(group));
  if (connected.length > 0) {
    throw new AdminError(`Nothing was changed: matchers run in ${connected.join(', ')}: stop them first.`);
  }
  const count = await handOverGroups(kafka, { prefix, topics: ITEMS, from: before, to: after, beginOf: ringBegin });
  if (count === 0) {
    throw new AdminError(`Nothing was changed: ${before.join(', ')} have read nothing: is --from ${from} right?`);
  }
  return [{ from, to, groups: after, next: `start all services with MATCHER_SHARDS=${to}` }];
}

/** Where the next owner of a partition begins to read. */
function ringBegin({ offset, metadata }: { offset: bigint; metadata: string }): bigint {
  const refill = BigInt(parseMatcherCommit(metadata)?.refill ?? offset);
  return refill < offset ? refill : offset;
}
