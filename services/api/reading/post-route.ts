import type { z } from 'zod';
import type { PostMeta } from '../../../schemas/forum-post.ts';
import { postQuery } from '../../../schemas/reading-queries.ts';
import { coveredComments, postCost } from '../../../shared/domain/reading-cost.ts';
import { parseRequest } from '../invalid-request.ts';
import type { Answer, Call, Route } from '../route.ts';
import type { PostRead } from './post-reader.ts';
import { refuseWithoutCredits } from './reading-charge.ts';
import type { Charged } from './reading-charge.ts';
import { refusing } from './reading-service.ts';
import type { ReadingService } from './reading-service.ts';
import type { RenderedPost } from './rendered-posts.ts';
import { resolvePost } from './resolve-reference.ts';

type PostQuery = z.output<typeof postQuery>;

const MARKDOWN = 'text/markdown; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

const POST = { subject: 'post or comment', refusal: 'forum_refused' } as const;

/** GET /v1/forum/post: a post with its comments, as JSON, as one Markdown document, or as what the discussion is about. */
export function postRoute(service: ReadingService): Route {
  return {
    method: 'get',
    path: '/v1/forum/post',
    produces: ['application/json', 'text/markdown'],
    async handle({ caller, query, refuseAbandoned }: Call): Promise<Answer> {
      const asked = parseRequest(postQuery, query, 'query');
      refuseWithoutCredits(caller);
      const { read, commentId } = await refusing(POST, () => readAsked(service, asked));
      const render = (limit: number) => service.rendered.render(read, { format: asked.format, limit, commentId });
      const whole = render(asked.max_comments);
      const cost = postCost(whole.returned);
      refuseAbandoned();
      const charged = await service.charges.chargeCovered(caller, cost);
      const isLimited = charged.credits < cost;
      const rendered = isLimited ? render(coveredComments(charged.credits)) : whole;
      return answer(asked, { read, rendered, charged, isLimited, commentId });
    },
  };
}

async function readAsked(
  service: ReadingService,
  asked: PostQuery,
): Promise<{ read: PostRead; commentId: string | undefined }> {
  const { postId, commentId: pasted } = await resolvePost(service, asked);
  const commentId = asked.comment ?? pasted;
  const { max_comments: max, context } = asked;
  const read =
    commentId === undefined
      ? await service.posts.read(postId, max)
      : await service.posts.readAround(postId, commentId, context, max);
  return { read, commentId };
}

interface Outcome {
  read: PostRead;
  rendered: RenderedPost;
  charged: Charged;
  isLimited: boolean;
  commentId: string | undefined;
}

function answer(asked: PostQuery, { read, rendered, charged, isLimited, commentId }: Outcome): Answer {
  const { bytes, returned, hasMore } = rendered;
  const headers = {
    'X-Cache-Tier': read.tier,
    'X-Comments-Returned': String(returned),
    'X-Has-More': String(hasMore),
  };
  if (asked.format === 'md') {
    return { status: 200, body: bytes, charged, headers: { ...headers, 'Content-Type': MARKDOWN } };
  }
  const meta: PostMeta = {
    comments_returned: returned,
    comments_total: read.post.num_comments,
    has_more: hasMore,
    max_comments: asked.max_comments,
    credits_used: charged.credits,
    cache: read.tier,
    limited_by_balance: isLimited,
    ...(commentId === undefined ? {} : { focus_comment_id: commentId }),
  };
  const body = Buffer.concat([bytes, Buffer.from(`,"meta":${JSON.stringify(meta)}}`)]);
  return { status: 200, body, charged, headers: { ...headers, 'Content-Type': JSON_TYPE } };
}
