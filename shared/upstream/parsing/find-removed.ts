import { z } from 'zod';
import { bareId } from '../../../schemas/messages/forum-item.ts';
import { isGoneText } from '../../matching/text/item-texts.ts';
import { text } from './field-schemas.ts';
import { parseAnswer } from './parse-page.ts';

/** What the forum says now about things that were asked for by name. */
export interface ThingStates {
  /** Fullnames of the things in the answer. */
  present: Set<string>;
  /** Of these, the ones whose author deleted them, or that the forum or a moderator removed. */
  removed: Set<string>;
}

const answer = z.object({
  kind: z.literal('Listing'),
  data: z.object({ children: z.array(z.unknown()) }),
});
const state = z.object({
  kind: z.enum(['t1', 't3']),
  data: z.object({
    id: bareId,
    body: text,
    selftext: text,
    removed_by_category: text,
  }),
});

/**
 * Reads which things are gone. Nothing but the fields that say so is parsed, so a new shape of the rest does not hide
 * a removal. A deleted account alone is none: its comments stay.
 *
 * @throws UpstreamError broken when the answer is no Listing
 */
export function findRemoved(body: unknown): ThingStates {
  const states: ThingStates = { present: new Set(), removed: new Set() };
  for (const child of parseAnswer(answer, body).data.children) {
    const parsed = state.safeParse(child);
    if (!parsed.success) continue;
    const { kind, data } = parsed.data;
    const name = `${kind}_${data.id}`;
    states.present.add(name);
    const content = kind === 't1' ? data.body : data.selftext;
    if (isGoneText(content) || (kind === 't3' && data.removed_by_category)) states.removed.add(name);
  }
  return states;
}
