import { describe, expect, it } from 'vitest';
import { listedOf } from '../../../../services/crawler/listed.ts';
import { commentData } from '../../../../shared/upstream/parsing/thing-schema.ts';
import { COMMENT } from '../../../support/samples/forum-things.ts';

const SEEN_AT = (COMMENT.created_utc + 5) * 1000;

describe('listedOf', () => {
  it('names the post of a comment', () => {
    const comment = commentData.parse(COMMENT);
    expect(listedOf({ kind: 't1', data: comment }, SEEN_AT)).toEqual({
      name: `t1_${COMMENT.id}`,
      createdAt: COMMENT.created_utc * 1000,
      subreddit: 'tea',
      postId: '1q2w3e',
    });
  });

  it('dates nothing in the future', () => {
    const comment = commentData.parse({ ...COMMENT, created_utc: COMMENT.created_utc + 3600 });
    expect(listedOf({ kind: 't1', data: comment }, SEEN_AT).createdAt).toBe(SEEN_AT);
  });
});
