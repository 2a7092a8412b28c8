import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import type { CorpusItem } from '../shared/corpus.ts';

const POST_SHARE = 10;
/** Longer texts are cut, as most of the forum's items are comments. */
const LONGEST = 2_000;
const TITLE = 60;
const CREATED = 1_790_000_000;
/** Above every id of the simulator. */
const FIRST_ID = 2_000_000_000;

export interface ForumDump {
  items: number;
  bytes: number;
}

/**
 * Writes a dump of `count` posts and comments in the forum's shape, a line each: the texts of the corpus, again and
 * again with other ids. Every tenth is a post.
 */
export async function writeDump(file: string, corpus: readonly CorpusItem[], count: number): Promise<ForumDump> {
  const stream = createWriteStream(file);
  let bytes = 0;
  for (let number = 0; number < count; number += 1) {
    const line = `${JSON.stringify(thingOf(corpus[number % corpus.length]!, number))}\n`;
    bytes += Buffer.byteLength(line);
    if (!stream.write(line)) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'finish');
  return { items: count, bytes };
}

function thingOf({ text, subreddit }: CorpusItem, number: number): object {
  const id = (FIRST_ID + number).toString(36);
  const shared = {
    ...{ id, author: `author${number % 5_000}`, subreddit: subreddit === '' ? 'unknown' : subreddit },
    ...{ created_utc: CREATED, over_18: false, score: 1, edited: false },
  };
  const title = text.slice(0, TITLE).replaceAll('\n', ' ') || 'A title';
  if (number % POST_SHARE === 0) {
    const permalink = `/r/${shared.subreddit}/comments/${id}/post/`;
    const body = { title, selftext: text.slice(TITLE, LONGEST), is_self: true, num_comments: 9 };
    const data = { ...shared, ...body, name: `t3_${id}`, permalink, url: `https://www.reddit.com${permalink}` };
    return { kind: 't3', data };
  }
  const post = (FIRST_ID + number - (number % POST_SHARE)).toString(36);
  const parent = { link_id: `t3_${post}`, parent_id: `t3_${post}`, link_title: title };
  const permalink = `/r/${shared.subreddit}/comments/${post}/post/${id}/`;
  return { kind: 't1', data: { ...shared, ...parent, name: `t1_${id}`, permalink, body: text.slice(0, LONGEST) } };
}
