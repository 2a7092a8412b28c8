/**
 * Several strings as one, each after its length in two characters. A list of twenty short strings takes a third of the memory of the
 * strings themselves, since each of these would be an object.
 */
export function packStrings(strings: readonly string[]): string {
  return strings.map((text) => String.fromCharCode(text.length >>> 16, text.length & 0xffff) + text).join('');
}

function lengthAt(packed: string, at: number): number {
  return (packed.charCodeAt(at) << 16) | packed.charCodeAt(at + 1);
}

/** The string with the given number, counting from 0. It must be there. Constant time but for stepping over those before it. */
export function packedString(packed: string, index: number): string {
  let at = 0;
  for (let before = 0; before < index; before++) at += 2 + lengthAt(packed, at);
  return packed.slice(at + 2, at + 2 + lengthAt(packed, at));
}

export function unpackStrings(packed: string): string[] {
  const strings: string[] = [];
  for (let at = 0; at < packed.length; at += 2 + lengthAt(packed, at)) {
    strings.push(packed.slice(at + 2, at + 2 + lengthAt(packed, at)));
  }
  return strings;
}
