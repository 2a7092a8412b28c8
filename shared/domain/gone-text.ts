/** What the forum shows in place of a text, in lower case: its author, a moderator or the staff removed it. */
const PLACEHOLDERS: ReadonlySet<string> = new Set(['[deleted]', '[removed]', '[ removed by reddit ]']);

/** Whether a text is what the forum shows in place of one that was deleted or removed. */
export function isGoneText(text: string): boolean {
  return PLACEHOLDERS.has(text.trim().toLowerCase());
}
