/**
 * The text as Postgres can hold it: neither U+0000 nor half a surrogate pair, each replaced by U+FFFD. What is
 * published must be what is stored, and one odd character must not stop a consumer.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\ufffd');
}
