import type { z } from 'zod';
import type { PostMeta } from '../../../schemas/forum-post.ts';
import { postQuery } from '../../../schemas/reading-queries.ts';
import { coveredComments, postCost } from '../../../shared/domain/reading-cost.ts';
import { parseRequest } from '../invalid-request.ts';
import type { Answer, Call, Route } from '../route.ts';
import { buildCommentTree } from './comments/comment-tree.ts';
import type { CommentTree } from './comments/comment-tree.ts';
import { buildDiscussionGraph } from './comments/discussion-graph.ts';
import { renderPostMarkdown } from './comments/post-markdown.ts';
import type { PostRead } from './post-reader.ts';
import { chargeCovered, chargeReading, mayRead, refuseWithoutCredits } from './reading-charge.ts';
import type { Charged } from './reading-charge.ts';
import { refusing } from './reading-service.ts';
import type { ReadingService } from './reading-service.ts';
import { resolvePost } from './resolve-reference.ts';

type PostQuery = z.output<typeof postQuery>;

const POST = { subject: 'post or comment', refusal: 'forum_refused' } as const;

/** GET /v1/forum/post: a post with its comments, as JSON, as one Markdown document, or as what the discussion is about. */
export function postRoute(service: ReadingService): Route {
  return {
    method: 'get',
    path: '/v1/forum/post',
    async handle({ caller, query }: Call): Promise<Answer> {
      mayRead(caller);
      const asked = parseRequest(postQuery, query, 'query');
      refuseWithoutCredits(caller);
      const { read, commentId } = await refusing(POST, () => readAsked(service, asked));
      const whole = buildCommentTree(read.held, asked.max_comments);
      const cost = postCost(whole.returned);
      const charge = cost === 1 ? chargeReading : chargeCovered;
      const charged = await charge(service.pool, caller, cost);
      const isLimited = charged.credits < cost;
      const tree = isLimited ? buildCommentTree(read.held, coveredComments(charged.credits)) : whole;
      return answer(asked, { read, tree, charged, isLimited, commentId });
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
  tree: CommentTree;
  charged: Charged;
  isLimited: boolean;
  commentId: string | undefined;
}

function answer(asked: PostQuery, { read, tree, charged, isLimited, commentId }: Outcome): Answer {
  const post = { ...read.post, comments: tree.comments };
  const meta: PostMeta = {
    comments_returned: tree.returned,
    comments_total: post.num_comments,
    has_more: tree.hasMore,
    max_comments: asked.max_comments,
    credits_used: charged.credits,
    cache: read.tier,
    limited_by_balance: isLimited,
    ...(commentId === undefined ? {} : { focus_comment_id: commentId }),
  };
  const headers = {
    'X-Cache-Tier': read.tier,
    'X-Comments-Returned': String(tree.returned),
    'X-Has-More': String(tree.hasMore),
  };
  if (asked.format === 'md') {
    const type = { 'Content-Type': 'text/markdown; charset=utf-8' };
    return { status: 200, body: renderPostMarkdown(post, meta), charged, headers: { ...headers, ...type } };
  }
  const graph = { discussion_graph: buildDiscussionGraph(post, post.comments), meta };
  return { status: 200, body: asked.format === 'graph' ? graph : { post, ...graph }, charged, headers };
}
