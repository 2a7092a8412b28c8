/** The share of posts that were found; undefined when there were none. Ids that were not read count as posts. */
export function postShare({ found, unread }: { found: number; unread: number }): number | undefined {
  return found + unread === 0 ? undefined : found / (found + unread);
}
