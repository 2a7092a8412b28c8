import { z } from 'zod';
import { fullname } from '../../../schemas/messages/forum-item.ts';
import { count, flag, optional, readable, text } from './field-schemas.ts';
import { postData } from './thing-schema.ts';

const source = z.object({
  u: optional(z.string()),
  gif: optional(z.string()),
  mp4: optional(z.string()),
  x: count,
  y: count,
});

/** One file of a gallery. A `status` other than `valid` means that there is nothing to show. Videos have no `s`. */
const mediaFile = z.object({
  status: optional(z.string()),
  s: optional(source),
  hlsUrl: optional(z.string()),
  x: count,
  y: count,
});

const galleryItem = z.object({ media_id: z.string(), caption: text });

/** A video that failed, or is still being processed, has no address. */
const video = z.object({ fallback_url: z.string(), width: count, height: count });
const embeddedMedia = optional(z.object({ reddit_video: optional(video) }));

const previewImage = z.object({ source: z.object({ url: z.string(), width: count, height: count }) });

const pollData = z.object({
  options: readable(z.object({ id: z.union([z.string(), z.number()]).transform(String), text, vote_count: count })),
  total_vote_count: count,
  /** Milliseconds, unlike all other times of the forum. */
  voting_end_timestamp: optional(z.number()),
});

const media = {
  is_video: flag,
  is_gallery: flag,
  media: embeddedMedia,
  secure_media: embeddedMedia,
  gallery_data: optional(z.object({ items: readable(galleryItem) })),
  media_metadata: optional(z.record(z.string(), optional(mediaFile))),
  preview: optional(z.object({ images: readable(previewImage) })),
  post_hint: optional(z.string()),
};

/** A post's `data` for the reading routes. Fields that no route returns are ignored. */
const ownFields = postData.safeExtend({
  ...media,
  domain: text,
  link_flair_text: text,
  spoiler: flag,
  stickied: flag,
  locked: flag,
  upvote_ratio: z
    .number()
    .catch(0)
    .transform((ratio) => Math.min(1, Math.max(0, ratio))),
  removed_by_category: optional(z.string()),
  /** Before removal categories existed: the name of the moderator, or only true. */
  banned_by: optional(z.union([z.string(), z.boolean()])),
  removed: flag,
  /** False where moderators removed the post. */
  poll_data: optional(pollData),
  crosspost_parent: optional(fullname),
});

/** A post with the original of its crosspost. */
export const postSchema = ownFields.safeExtend({ crosspost_parent_list: readable(ownFields) });

export type UpstreamPost = z.infer<typeof postSchema>;
/** A post, or the original of a crosspost. */
export type UpstreamPostFields = z.infer<typeof ownFields>;
