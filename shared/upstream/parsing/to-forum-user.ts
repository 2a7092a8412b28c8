import { z } from 'zod';
import type { ForumUser } from '../../../schemas/api/forum-resources.ts';
import { flag, optional, seconds, text } from './field-schemas.ts';
import { isoTime } from './to-post.ts';

const karma = optional(z.number().int());

/** An account's `data`. A suspended account has a name and the flag, and nothing else. */
export const userSchema = z.object({
  name: z.string(),
  created_utc: optional(seconds),
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
    created_at: data.created_utc === undefined ? null : isoTime(data.created_utc),
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
