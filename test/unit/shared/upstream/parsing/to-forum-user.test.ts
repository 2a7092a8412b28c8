import { expect, test } from 'vitest';
import { parseAnswer } from '../../../../../shared/upstream/parsing/parse-page.ts';
import { toForumUser, userSchema } from '../../../../../shared/upstream/parsing/to-forum-user.ts';
import * as samples from '../../../../support/samples/upstream-samples.ts';

test('maps a user and a suspended user', () => {
  expect(toForumUser(parseAnswer(userSchema, samples.USER))).toEqual({
    name: 'smith',
    created_at: '2004-11-09T11:33:20.000Z',
    link_karma: 10,
    comment_karma: 20,
    total_karma: 33,
    is_employee: false,
    is_mod: true,
    has_verified_email: true,
    suspended: false,
    icon: 'https://styles.example/smith.png',
  });
  expect(toForumUser(parseAnswer(userSchema, { name: 'sam', is_suspended: true }))).toMatchObject({
    suspended: true,
    created_at: null,
    total_karma: 0,
  });
});
