import type { Candidate } from '../../schemas/messages/candidate.ts';
import type { ItemContent } from '../../schemas/messages/forum-item.ts';
import { blankedContent } from '../../shared/matches/rules/match-resource.ts';
import { storableText } from '../../shared/postgres/sql.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';
import { findKnownThings, storeItems, overwriteItems, readItems } from '../../shared/matches/recording-items.ts';

/**
 * Stores the content of every candidate's thing and returns it as it was first stored, by thing id. A thing that the
 * forum removed is stored and returned blank.
 *
 * Before: `recordBatch` received a batch of candidates. After: `recordPairs` numbers and stores the matches that refer
 * to this content. Each statement commits on its own, before any monitor is locked, because other recorders may store
 * the same things. A crash leaves content without a match, which expires; repeating the call changes nothing.
 */
export async function storeContents(
  db: Queryable,
  candidates: readonly Candidate[],
): Promise<Map<string, ItemContent>> {
  const things = new Map<string, ItemContent>();
  for (const { item } of candidates) if (!things.has(item.thing_id)) things.set(item.thing_id, item);
  if (things.size === 0) return new Map();
  const ids = [...things.keys()].sort();
  const { kept, removed } = await findKnownThings(db, ids);
  const toStore = ids.filter((id) => !kept.has(id)).map((id) => storableContent(things.get(id)!));
  if (toStore.length > 0) {
    await storeItems(
      db,
      toStore.map((item) => (removed.has(item.thing_id) ? blankedContent(item) : item)),
    );
  }
  return readStoredContents(db, ids);
}

/**
 * Reads the stored content and blanks what the forum removed in the meantime.
 *
 * A removal first inserts a row into removed_things, then blanks the stored content. The recorder first stores the
 * content, then reads removed_things. So at least one of the two always sees the other, and content that was inserted
 * after its removal is blanked here.
 */
export async function readStoredContents(db: Queryable, ids: readonly string[]): Promise<Map<string, ItemContent>> {
  const contents = new Map<string, ItemContent>();
  const toBlank: ItemContent[] = [];
  for (const { item, removed } of await readItems(db, ids)) {
    const content = removed ? blankedContent(item) : item;
    if (content.author !== item.author || content.title !== item.title || content.body !== item.body) {
      toBlank.push(content);
    }
    contents.set(item.thing_id, content);
  }
  if (toBlank.length > 0) await overwriteItems(db, toBlank);
  return contents;
}

function storableContent(item: ItemContent): ItemContent {
  return {
    ...item,
    subreddit: storableText(item.subreddit),
    author: storableText(item.author),
    title: storableText(item.title),
    body: storableText(item.body),
    permalink: storableText(item.permalink),
  };
}
