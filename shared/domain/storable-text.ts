/**
 * Replaces U+0000 and lone surrogates by U+FFFD, because Postgres cannot store them. What is published must equal what
 * is stored, and one invalid character must not stop a consumer.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\ufffd');
}
