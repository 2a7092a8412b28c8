import { z } from 'zod';
import { bareId, fullname } from '../../../schemas/messages/forum-item.ts';
import { count, optional, readable } from './field-schemas.ts';
import { commentFields } from './thing-schema.ts';

/** A comment's `data` inside a thread, for the reading routes. Unknown fields are ignored. */
export const threadComment = commentFields
  .pick({ id: true, author: true, created_utc: true, body: true, parent_id: true, score: true })
  .extend({
    controversiality: count,
    /** Missing before 2017. */
    is_submitter: optional(z.boolean()),
  });

/** The `data` of a stub, which stands for comments that the forum left out. */
export const moreStub = z.object({
  children: readable(bareId),
  parent_id: fullname,
});

/** Any child of a Listing. */
export const threadNode = z.object({ kind: z.string(), data: z.unknown() });

export const threadListing = z.object({
  kind: z.literal('Listing'),
  data: z.object({ children: z.array(z.unknown()) }),
});

/**
 * The replies of a comment, where they are not `""`. The caller parses them level by level, because a recursive schema
 * could be made to overflow the stack.
 */
export const withReplies = z.object({ replies: threadListing });

/** /comments/ID: the post and its comments. */
export const threadAnswer = z.tuple([threadListing, threadListing]);

/** /api/morechildren: comments and stubs, flat and in page order. */
export const moreChildrenAnswer = z.object({
  json: z.object({ data: z.object({ things: z.array(z.unknown()) }) }),
});

export type ThreadComment = z.infer<typeof threadComment>;
