import { COMMENT, listingOf, nodeOf, POST } from '../../support/samples/upstream-samples.ts';

const TEXT = 'Iron, water and air make rust; oil and paint keep it away for some years. '.repeat(3);

/** The forum's answer for a post with this many comments: every third at the top level, the others below it. */
export function threadOf(postId: string, comments: number): unknown {
  const link = `t3_${postId}`;
  const commentOf = (number: number, parent: string, replies: unknown) => ({
    ...COMMENT,
    id: `c${number}`,
    name: `t1_c${number}`,
    link_id: link,
    parent_id: parent,
    body: TEXT,
    score: number % 40,
    replies,
  });
  const top: unknown[] = [];
  for (let number = 0; number < comments; number += 3) {
    const inner = number + 2 < comments ? listingOf(nodeOf('t1', commentOf(number + 2, `t1_c${number + 1}`, ''))) : '';
    const reply = number + 1 < comments ? listingOf(nodeOf('t1', commentOf(number + 1, `t1_c${number}`, inner))) : '';
    top.push(nodeOf('t1', commentOf(number, link, reply)));
  }
  const post = { ...POST, id: postId, name: link, num_comments: comments };
  return [listingOf(nodeOf('t3', post)), listingOf(...top)];
}
