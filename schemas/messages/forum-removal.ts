import { z } from 'zod';
import { fullname, timestamp } from './forum-item.ts';

/** Value of forum.removals: a thing was deleted or removed on the forum. Key: thing_id. */
export const forumRemoval = z.object({
  v: z.literal(1),
  thing_id: fullname,
  removed_at: timestamp,
});
