/** Replaces what Postgres cannot store. What is published must equal what is stored. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\ufffd');
}
