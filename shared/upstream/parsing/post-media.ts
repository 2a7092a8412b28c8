import type { PostMedia, PostPoll } from '../../../schemas/messages/forum-post.ts';
import type { UpstreamPostFields, UpstreamPost } from './post-schema.ts';

const IMAGE_FILE = /\.(?:jpe?g|png|gif|webp|avif)$/i;

/**
 * The media of a post, in order: the pictures of a gallery, one video, or one image. A crosspost without media has
 * those of the original.
 */
export function mediaOf(post: UpstreamPost): PostMedia[] {
  const own = ownMedia(post);
  const [parent] = post.crosspost_parent_list;
  return own.length > 0 || parent === undefined ? own : ownMedia(parent);
}

function ownMedia(post: UpstreamPostFields): PostMedia[] {
  if (post.gallery_data) return galleryOf(post);
  const video = post.secure_media?.reddit_video ?? post.media?.reddit_video;
  if (video) {
    return [{ type: 'video', url: video.fallback_url, width: video.width, height: video.height, caption: '' }];
  }
  // A video that is still being processed has only its address.
  if (post.is_video && post.url) return [{ type: 'video', url: post.url, width: 0, height: 0, caption: '' }];
  return imageOf(post);
}

/** `media_metadata` has no order. Pictures that failed or are still being processed have no source. */
function galleryOf(post: UpstreamPostFields): PostMedia[] {
  const pictures: PostMedia[] = [];
  for (const { media_id: id, caption } of post.gallery_data?.items ?? []) {
    const file = post.media_metadata?.[id];
    const url = file?.s?.u ?? file?.s?.gif ?? file?.s?.mp4 ?? file?.hlsUrl ?? undefined;
    if (!file || url === undefined || (file.status ?? 'valid') !== 'valid') continue;
    const width = file.s?.x ?? file.x;
    const height = file.s?.y ?? file.y;
    pictures.push({ type: 'gallery', url, width, height, caption });
  }
  return pictures;
}

function imageOf(post: UpstreamPostFields): PostMedia[] {
  const url = post.url ?? '';
  if (post.is_self === true || !isImage(post, url)) return [];
  const source = post.preview?.images[0]?.source;
  return [{ type: 'image', url, width: source?.width ?? 0, height: source?.height ?? 0, caption: '' }];
}

/** Old posts, and new ones for some seconds, lack `post_hint`. Then the file name decides. */
function isImage(post: UpstreamPostFields, url: string): boolean {
  if (post.post_hint !== undefined) return post.post_hint === 'image';
  return URL.canParse(url) && IMAGE_FILE.test(new URL(url).pathname);
}

/**
 * The poll of a post; null without one or without options. A poll is closed from its end on.
 *
 * @param now milliseconds since 1970
 */
export function pollOf({ poll_data: poll }: UpstreamPost, now: number): PostPoll | null {
  if (!poll || poll.options.length === 0) return null;
  return {
    total_votes: poll.total_vote_count,
    is_closed: poll.voting_end_timestamp !== undefined && poll.voting_end_timestamp <= now,
    options: poll.options,
  };
}
