import { z } from 'zod';
import { bareId, fullname } from '../../../schemas/messages/forum-item.ts';
import { commentFields } from './thing-schema.ts';

/** A comment's `data` inside a thread, for the reading routes. Unknown fields are ignored. */
export const threadComment = commentFields
  .pick({ id: true, author: true, created_utc: true, body: true, parent_id: true, score: true })
  .extend({
    controversiality: z
      .number()
      .nullish()
      .transform((value) => Math.max(0, Math.trunc(value ?? 0))),
    /** Missing before 2017. */
    is_submitter: z.boolean().nullish(),
    /**
     * `""` or a Listing. The caller parses it level by level, because a recursive schema could be made to overflow the
     * stack.
     */
    replies: z.unknown(),
  });

/** The `data` of a stub, which stands for comments that the forum left out. */
export const moreStub = z.object({
  children: z
    .array(bareId)
    .nullish()
    .transform((ids) => ids ?? []),
  parent_id: fullname,
});

/** Any child of a Listing. */
export const threadNode = z.object({ kind: z.string(), data: z.unknown() });

export const threadListing = z.object({
  kind: z.literal('Listing'),
  data: z.object({ children: z.array(z.unknown()) }),
});

/** /comments/ID: the post and its comments. */
export const threadAnswer = z.tuple([threadListing, threadListing]);

/** /api/morechildren: comments and stubs, flat and in page order. */
export const moreChildrenAnswer = z.object({
  json: z.object({ data: z.object({ things: z.array(z.unknown()) }) }),
});

export type ThreadComment = z.infer<typeof threadComment>;
