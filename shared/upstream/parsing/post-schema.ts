import { z } from 'zod';
import { fullname } from '../../../schemas/messages/forum-item.ts';
import { count, flag, text } from './field-schemas.ts';
import { postData } from './thing-schema.ts';

const source = z.object({ u: z.string(), gif: z.string(), mp4: z.string(), x: count, y: count }).partial();

/** One file of a gallery. A `status` other than `valid` means that there is nothing to show. Videos have no `s`. */
const mediaFile = z.object({
  status: z.string().nullish(),
  s: source.nullish(),
  hlsUrl: z.string().nullish(),
  x: count,
  y: count,
});

const galleryItem = z.object({ media_id: z.string(), caption: z.string().nullish() });

const video = z.object({ fallback_url: z.string(), width: count, height: count });
const embeddedMedia = z.object({ reddit_video: video.nullish() }).nullish();

const previewImage = z.object({ source: z.object({ url: z.string(), width: count, height: count }) });

const pollData = z.object({
  options: z.array(z.object({ id: z.union([z.string(), z.number()]).transform(String), text, vote_count: count })),
  total_vote_count: count,
  /** Milliseconds, unlike all other times of the forum. */
  voting_end_timestamp: z.number().nullish(),
});

const media = {
  is_video: flag,
  is_gallery: flag,
  media: embeddedMedia,
  secure_media: embeddedMedia,
  gallery_data: z.object({ items: z.array(galleryItem) }).nullish(),
  media_metadata: z.record(z.string(), mediaFile).nullish(),
  preview: z
    .object({ images: z.array(previewImage) })
    .partial()
    .nullish(),
  post_hint: z.string().nullish(),
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
    .nullish()
    .transform((value) => Math.min(1, Math.max(0, value ?? 0))),
  removed_by_category: z.string().nullish(),
  /** Before removal categories existed: the name of the moderator, or only true. */
  banned_by: z.union([z.string(), z.boolean()]).nullish(),
  removed: z.boolean().nullish(),
  poll_data: pollData.nullish(),
  crosspost_parent: fullname.nullish(),
});

/** A post with the original of its crosspost. */
export const postSchema = ownFields.safeExtend({ crosspost_parent_list: z.array(ownFields).nullish() });

export type UpstreamPost = z.infer<typeof postSchema>;
/** A post, or the original of a crosspost. */
export type UpstreamPostFields = z.infer<typeof ownFields>;
