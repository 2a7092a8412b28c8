import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** The reply of a scripted server to a command line, `.` for the end of a mail. Undefined: no reply. */
export type SmtpScript = (line: string, socket: Socket) => string | undefined;

export interface ScriptedSmtp {
  url: string;
  /** All received commands, without the mails. */
  lines: string[];
  /** The number of open connections. */
  connections(): number;
  stop(): Promise<void>;
}

/** The replies of a normal server. A script overrides some of them. */
export function politely(line: string): string {
  const [verb = ''] = line.toUpperCase().split(' ');
  if (verb === 'EHLO') return '250-there\r\n250 8BITMIME';
  if (verb === 'DATA') return '354 go on';
  return verb === 'QUIT' ? '221 bye' : '250 ok';
}

/**
 * A TCP server on loopback that says what a script says: for servers that are broken or hostile.
 *
 * @param greeting empty: none
 */
export async function startScriptedSmtp(script: SmtpScript, greeting = '220 there'): Promise<ScriptedSmtp> {
  const lines: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    if (greeting !== '') socket.write(`${greeting}\r\n`);
    converse(socket, script, lines);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lines,
    connections: () => sockets.size,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function converse(socket: Socket, script: SmtpScript, lines: string[]): void {
  let buffered = '';
  let inMail = false;
  socket.on('data', (data) => {
    buffered += data.toString('latin1');
    for (let end = buffered.indexOf('\r\n'); end >= 0; end = buffered.indexOf('\r\n')) {
      const line = buffered.slice(0, end);
      buffered = buffered.slice(end + 2);
      if (inMail && line !== '.') continue;
      lines.push(line);
      const reply = script(line, socket);
      inMail = reply?.startsWith('354') === true;
      if (reply !== undefined) socket.write(`${reply}\r\n`);
    }
  });
}
