import type { Candidate } from '../../schemas/messages/candidate.ts';
import type { ItemContent } from '../../schemas/messages/forum-item.ts';
import { blankedContent } from '../../shared/domain/blanked-content.ts';
import { storableText } from '../../shared/domain/storable-text.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';
import { findKnownThings, keepItems, overwriteItems, readItems } from '../../shared/stores/matches/recording-items.ts';

/**
 * Makes sure that the content of every candidate's thing is stored, and returns it as it was first stored, by thing id.
 * A thing that the forum removed is stored and returned blank. Each statement commits by itself, before any monitor is
 * locked: other recorders may want the same things, and repeating all of it changes nothing.
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
  const unkept = ids.filter((id) => !kept.has(id)).map((id) => storableContent(things.get(id)!));
  if (unkept.length > 0) {
    await keepItems(
      db,
      unkept.map((item) => (removed.has(item.thing_id) ? blankedContent(item) : item)),
    );
  }
  return readStoredContents(db, ids);
}

/**
 * Reads back what is stored now. A removal first notes the thing, then blanks what is stored; we first store, then look
 * at what is noted. So one of the two always sees the other, and a removal that overtook our insert is made good here.
 */
export async function readStoredContents(db: Queryable, ids: readonly string[]): Promise<Map<string, ItemContent>> {
  const contents = new Map<string, ItemContent>();
  const overtaken: ItemContent[] = [];
  for (const { item, removed } of await readItems(db, ids)) {
    const content = removed ? blankedContent(item) : item;
    if (content.author !== item.author || content.title !== item.title || content.body !== item.body) {
      overtaken.push(content);
    }
    contents.set(item.thing_id, content);
  }
  if (overtaken.length > 0) await overwriteItems(db, overtaken);
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
