import { z } from 'zod';
import { timestamp } from '../../messages/forum-item.ts';
import { storableString } from '../given-name.ts';

export const muteKind = z.enum(['subreddit', 'author', 'thread']).meta({
  description: 'What is muted: a community, an account, or a post with its comments.',
});
export type MuteKind = z.infer<typeof muteKind>;

/** A mute in answers: what a monitor does not record, whatever its rule says. */
export const monitorMute = z
  .strictObject({
    id: z.string(),
    kind: muteKind,
    value: z
      .string()
      .describe('As it is compared: a name in lower case without `r/` or `u/`, or the id of a post with `t3_`.'),
    created_at: timestamp,
  })
  .meta({ id: 'MonitorMute' });

export type MonitorMute = z.infer<typeof monitorMute>;

/** Answer of GET /v1/monitors/{id}/mutes. */
export const muteList = z
  .strictObject({
    items: z.array(monitorMute).describe('Oldest first.'),
    limit: z.number().int().min(0).describe('How many mutes a monitor may have.'),
  })
  .meta({ id: 'MuteList' });

/** Answer of POST /v1/monitors/{id}/mutes. */
export const muteAnswer = z.strictObject({ mute: monitorMute }).meta({ id: 'MuteAnswer' });

/** Answer of DELETE /v1/monitors/{id}/mutes/{mute_id}. */
export const muteDeleted = z.strictObject({ status: z.literal('deleted') }).meta({ id: 'MuteDeleted' });

/** Body of POST /v1/monitors/{id}/mutes. The service checks that the value fits its kind. */
export const createMuteBody = z
  .strictObject({
    kind: muteKind,
    value: storableString.describe(
      'A community with or without `r/`, an account with or without `u/`, or the id of a post with or without `t3_`; or the URL of any of them.',
    ),
  })
  .meta({ id: 'CreateMute' });
