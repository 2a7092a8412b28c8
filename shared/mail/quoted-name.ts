/** Longer names are cut. */
const NAME_LENGTH = 60;

/**
 * A name that somebody chose, in quotation marks, for a mail: one line, cut, and nothing in it that mail programs would
 * turn into a link, as they do with addresses and host names in plain text.
 */
export function quotedName(name: string): string {
  const plain = name
    .replace(/[\p{C}\p{Z}\s]+/gu, ' ')
    // A blank after a dot, a colon and a slash, and before an at sign, keeps the name readable.
    .replace(/([.:/])(?=[^\s])/g, '$1 ')
    .replace(/@/g, ' @ ')
    .replace(/ +/g, ' ')
    .trim();
  const characters = Array.from(plain);
  const cut = characters.length > NAME_LENGTH ? `${characters.slice(0, NAME_LENGTH).join('').trimEnd()}…` : plain;
  return `“${cut}”`;
}
