/** A dispatched event of a stream. */
export interface StreamEvent {
  id: string;
  type: string;
  data: string;
}

/**
 * Reads text/event-stream by the HTML standard ("Interpreting an event stream"), and refuses what the standard would
 * quietly ignore: unknown fields, and a byte order mark.
 */
export class EventStreamParser {
  readonly events: StreamEvent[] = [];
  readonly comments: string[] = [];
  /** The retry time in milliseconds, if the stream set it. */
  retry: number | undefined;
  private readonly decoder = new TextDecoder('utf-8', { fatal: true });
  private buffered = '';
  private lastEventId = '';
  private type = '';
  private data: string[] = [];

  push(bytes: Uint8Array): void {
    this.buffered += this.decoder.decode(bytes, { stream: true });
    // A CR at the very end may be the first half of a CRLF.
    for (let end = /\r\n|\n|\r(?!$)/.exec(this.buffered); end; end = /\r\n|\n|\r(?!$)/.exec(this.buffered)) {
      const line = this.buffered.slice(0, end.index);
      this.buffered = this.buffered.slice(end.index + end[0].length);
      this.line(line);
    }
  }

  private line(line: string): void {
    if (line === '') this.dispatch();
    else if (line.startsWith(':')) this.comments.push(line.slice(1));
    else {
      const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!;
      this.field(name!, value);
    }
  }

  private field(name: string, value: string): void {
    if (name === 'event') this.type = value;
    else if (name === 'data') this.data.push(value);
    else if (name === 'id' && !value.includes('\0')) this.lastEventId = value;
    else if (name === 'retry' && /^[0-9]+$/.test(value)) this.retry = Number(value);
    else throw new Error(`the stream has an unknown field: ${JSON.stringify(`${name}: ${value}`)}`);
  }

  private dispatch(): void {
    if (this.data.length > 0) {
      this.events.push({ id: this.lastEventId, type: this.type || 'message', data: this.data.join('\n') });
    }
    this.type = '';
    this.data = [];
  }
}
