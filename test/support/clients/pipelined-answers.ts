import type { Socket } from 'node:net';

export interface PipelinedAnswer {
  /** Status line and headers. */
  head: string;
  body: string;
}

/**
 * The next answers of a connection, each with a Content-Length. What comes after them must not have been sent yet.
 *
 * @throws when the connection ends before
 */
export function readAnswers(socket: Socket, count: number): Promise<PipelinedAnswer[]> {
  const answers: PipelinedAnswer[] = [];
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      socket.off('data', onData);
      socket.off('close', onClose);
      if (error) reject(error);
      else resolve(answers);
    };
    const onClose = () => settle(new Error(`the connection was closed after ${answers.length} of ${count} answers`));
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      let text = Buffer.concat(chunks.splice(0)).toString('latin1');
      for (let answer = firstOf(text); answer !== undefined; answer = firstOf(text)) {
        answers.push(answer);
        text = text.slice(answer.head.length + 4 + answer.body.length);
      }
      chunks.push(Buffer.from(text, 'latin1'));
      if (answers.length >= count) settle();
    };
    socket.on('data', onData);
    socket.once('close', onClose);
  });
}

function firstOf(text: string): PipelinedAnswer | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = text.slice(0, end);
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
  const body = text.slice(end + 4, end + 4 + length);
  return body.length < length ? undefined : { head, body };
}
