import { expect, test } from 'vitest';
import { commentData, fullnameOf, postData } from '../../../../../shared/upstream/parsing/thing-schema.ts';
import { COMMENT, POST } from '../../../../support/samples/forum-things.ts';

test('fullnameOf joins the kind and the bare id', () => {
  expect(fullnameOf({ kind: 't3', data: postData.parse(POST) })).toBe('t3_1q2w3e');
  expect(fullnameOf({ kind: 't1', data: commentData.parse(COMMENT) })).toBe('t1_zzzzzzzzzzzz9');
});

test('commentData takes the post id from link_id before the permalink', () => {
  expect(commentData.parse({ ...COMMENT, link_id: 't3_999' }).post_id).toBe('999');
});
