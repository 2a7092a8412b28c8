export interface ReadMail {
  /** By name in lower case. A repeated header has several values. */
  headers: Map<string, string[]>;
  text: string;
  html: string;
  raw: string;
}

/** Parses a mail with a text and an HTML part, as a mail program would. */
export function readMail(raw: string): ReadMail {
  const { headers, body } = splitHead(raw);
  const boundary = /boundary="([^"]+)"/.exec(headers.get('content-type')?.[0] ?? '')?.[1];
  if (boundary === undefined) throw new Error(`not a mail of several parts: ${raw}`);
  const parts = body.split(`--${boundary}`).slice(1, -1);
  const partOf = (type: string) => {
    const part = parts.map((text) => splitHead(text.slice(2))).find((one) => typeOf(one.headers).startsWith(type));
    if (!part) throw new Error(`there is no ${type} in ${raw}`);
    return decoded(part.headers.get('content-transfer-encoding')?.[0] ?? '7bit', part.body);
  };
  return { headers, text: partOf('text/plain'), html: partOf('text/html'), raw };
}

/** The six-digit code in a mail's text. */
export function codeIn(mail: ReadMail): string {
  const code = /^Your code is (\d{6})$/m.exec(mail.text)?.[1];
  if (code === undefined) throw new Error(`there is no code in ${mail.text}`);
  return code;
}

/** The link in a mail's text. */
export function linkIn(mail: ReadMail): string {
  const link = /^https?:\/\/\S+\?token=lnk_\w{26}$/m.exec(mail.text)?.[0];
  if (link === undefined) throw new Error(`there is no link in ${mail.text}`);
  return link;
}

function splitHead(text: string): { headers: Map<string, string[]>; body: string } {
  const end = text.indexOf('\r\n\r\n');
  const unfolded = text.slice(0, end).replace(/\r\n[ \t]+/g, ' ');
  const headers = new Map<string, string[]>();
  for (const line of unfolded.split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()]);
  }
  return { headers, body: text.slice(end + 4) };
}

function typeOf(headers: Map<string, string[]>): string {
  return headers.get('content-type')?.[0] ?? '';
}

function decoded(encoding: string, body: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString();
  const lines = body.replaceAll('\r\n', '\n');
  if (encoding !== 'quoted-printable') return lines;
  return lines
    .replace(/=\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}
