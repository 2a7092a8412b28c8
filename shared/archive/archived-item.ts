import type { ItemContent } from '../../schemas/messages/forum-item.ts';
import { UNDECIDED_LANGUAGE } from '../../schemas/messages/forum-item.ts';
import type { MatchItem } from '../matching/rule.ts';
import { ClickHouseError } from '@clickhouse/client';
import type { ClickHouseClient } from '../clickhouse/clickhouse-client.ts';
import { selectRows } from '../clickhouse/clickhouse-client.ts';

/** A post or comment of the archive, as it was first seen. */
export interface ArchivedItem {
  content: ItemContent;
  /** ISO 8601 in UTC with milliseconds. */
  firstSeenAt: string;
  /** ISO 639-1; `und` when it is not decided, or was not when the item was archived. */
  language: string;
  /** Name of the crawl source; `replay` for items of dump files. */
  source: string;
}

/** Exactly what live matching saw of the item. A lone surrogate of the original is U+FFFD here. */
export function matchItemOf({ content, language }: ArchivedItem): MatchItem {
  const { kind, title, body, subreddit, nsfw, author } = content;
  return { kind, title, text: body, subreddit, nsfw, author, language };
}

/** A row of item_contents, or of items in the same form. */
interface ContentRow {
  thingId: string;
  firstSeenAtMs: number;
  /** 2 when the forum removed it. */
  ver: number;
  /** A JSON object (schemas/clickhouse/0001_schema.sql); empty for a removed item. */
  content: string;
}

type StoredContent = Omit<ItemContent, 'thing_id' | 'created_utc' | 'parent_id'> & {
  parent_id: string;
  created_utc_ms: string;
  language: string;
  source: string;
};

function archivedItemOf({ thingId, firstSeenAtMs, content }: ContentRow): ArchivedItem {
  const {
    created_utc_ms: createdMs,
    parent_id: parent,
    language,
    source,
    ...stored
  } = JSON.parse(content) as StoredContent;
  return {
    content: {
      thing_id: thingId,
      ...stored,
      parent_id: parent === '' ? null : parent,
      created_utc: new Date(Number(createdMs)).toISOString(),
    },
    firstSeenAt: new Date(firstSeenAtMs).toISOString(),
    language: language === '' ? UNDECIDED_LANGUAGE : language,
    source,
  };
}

/** Where a candidate stands in the archive. */
export interface PositionRow {
  thingId: string;
  firstSeenAtMs: number;
}

/** Longer texts are read in parts. */
const MOST_RESULT_BYTES = 16 * 2 ** 20;
/** Code of ClickHouse for a larger result. */
const TOO_LARGE = '396';

const COLUMNS = 'thing_id AS thingId, toUnixTimestamp64Milli(first_seen_at) AS firstSeenAtMs, ver, content';
/** Rows of items in the form of item_contents. */
const ITEMS_AS_CONTENTS = `(SELECT thing_id, first_seen_at, ver,
         toJSONString(CAST(tuple(kind, post_id, parent_id, subreddit, author, title, body, permalink, nsfw, toString(toUnixTimestamp64Milli(created_utc)),
             language, source),
           'Tuple(kind String, post_id String, parent_id String, subreddit String, author String, title String, body String, permalink String, nsfw Bool, created_utc_ms String, language String, source String)')) AS content
    FROM items WHERE first_seen_at > now64(3) - INTERVAL 30 DAY)`;

/**
 * The items at these positions, in their order. Of an item with several rows, the last position counts; at the others,
 * and when the forum removed the item, it is left out.
 *
 * @param positions each once; an item may have several
 */
export async function readContents(
  clickhouse: ClickHouseClient,
  positions: readonly PositionRow[],
  signal: AbortSignal,
): Promise<ArchivedItem[]> {
  const rows = await readRows(clickhouse, 'item_contents', positions, signal);
  // Archived before item_contents was there, or a moment ago.
  const missing = positions.filter(({ thingId }) => !rows.has(thingId));
  if (missing.length > 0)
    for (const [id, row] of await readRows(clickhouse, ITEMS_AS_CONTENTS, missing, signal)) rows.set(id, row);
  return positions.flatMap(({ thingId, firstSeenAtMs }) => {
    const row = rows.get(thingId);
    return row?.ver === 1 && row.firstSeenAtMs === firstSeenAtMs ? [archivedItemOf(row)] : [];
  });
}

/** An item of the last 30 days; undefined when it is not in the archive. It is blank when the forum removed it. */
export async function findArchivedItem(
  clickhouse: ClickHouseClient,
  thingId: string,
  signal: AbortSignal,
): Promise<ArchivedItem | undefined> {
  const rows = await readRows(clickhouse, ITEMS_AS_CONTENTS, [{ thingId, firstSeenAtMs: 0 }], signal);
  const row = rows.get(thingId);
  return row && archivedItemOf(row);
}

/** The row of each item that counts. Without FINAL, which would read and merge whole granules. */
async function readRows(
  clickhouse: ClickHouseClient,
  source: string,
  positions: readonly PositionRow[],
  signal: AbortSignal,
): Promise<Map<string, ContentRow>> {
  if (positions.length === 0) return new Map();
  try {
    // The ids are letters and digits. As a parameter they would be too long for the address of the request.
    const ids = positions.map(({ thingId }) => `'${thingId}'`).join(',');
    const query = `SELECT ${COLUMNS} FROM ${source} WHERE thing_id IN (${ids})`;
    const settings = { max_result_bytes: String(MOST_RESULT_BYTES) };
    const rows = new Map<string, ContentRow>();
    for (const row of await selectRows<ContentRow>(clickhouse, query, {}, { seconds: 4, settings, signal })) {
      const other = rows.get(row.thingId);
      if (other === undefined || isAfter(row, other)) rows.set(row.thingId, row);
    }
    return rows;
  } catch (error) {
    if (!(error instanceof ClickHouseError && error.code === TOO_LARGE) || positions.length === 1) throw error;
    const half = Math.ceil(positions.length / 2);
    const first = await readRows(clickhouse, source, positions.slice(0, half), signal);
    return new Map([...first, ...(await readRows(clickhouse, source, positions.slice(half), signal))]);
  }
}

/** A removal counts whatever its position. */
function isAfter(one: ContentRow, other: ContentRow): boolean {
  return one.ver === other.ver ? one.firstSeenAtMs > other.firstSeenAtMs : one.ver > other.ver;
}
