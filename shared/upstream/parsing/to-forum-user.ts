import { z } from 'zod';
import type { ForumUser } from '../../../schemas/api/forum-resources.ts';
import { flag, seconds, text } from './field-schemas.ts';
import { isoTime } from './to-post.ts';

const karma = z.number().int().nullish();

/** An account's `data`. A suspended account has a name and the flag, and nothing else. */
export const userSchema = z.object({
  name: z.string(),
  created_utc: seconds.nullish(),
  link_karma: karma,
  comment_karma: karma,
  total_karma: karma,
  is_employee: flag,
  is_mod: flag,
  has_verified_email: flag,
  is_suspended: flag,
  icon_img: text,
  snoovatar_img: text,
});
export type UpstreamUser = z.infer<typeof userSchema>;

export function toForumUser(data: UpstreamUser): ForumUser {
  const linkKarma = data.link_karma ?? 0;
  const commentKarma = data.comment_karma ?? 0;
  return {
    name: data.name,
    created_at: typeof data.created_utc === 'number' ? isoTime(data.created_utc) : null,
    link_karma: linkKarma,
    comment_karma: commentKarma,
    // Older responses lack it. Karma of awards, which it includes, is unknown then.
    total_karma: data.total_karma ?? linkKarma + commentKarma,
    is_employee: data.is_employee,
    is_mod: data.is_mod,
    has_verified_email: data.has_verified_email,
    suspended: data.is_suspended,
    icon: data.icon_img === '' ? data.snoovatar_img : data.icon_img,
  };
}
