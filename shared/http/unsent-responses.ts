import type { ServerResponse } from 'node:http';

interface Unsent {
  bytes: number;
  /** The time by performance.now() when the response was complete. */
  since: number;
}

export interface UnsentLimits {
  /** Maximum bytes over all connections. */
  unsentBytes: number;
  /** Milliseconds that a client may take to read a complete response. */
  sendMs: number;
}

/**
 * Tracks complete responses that clients have not read yet. A client that reads too slowly is disconnected. When all
 * unsent responses together exceed the limit, those that wait longest are disconnected.
 */
export class UnsentResponses {
  private readonly limits: UnsentLimits;
  /** Oldest first. */
  private readonly responses = new Map<ServerResponse, Unsent>();
  private total = 0;

  constructor(limits: UnsentLimits) {
    this.limits = limits;
  }

  /** Unsent bytes over all connections. */
  get bytes(): number {
    return this.total;
  }

  watch(response: ServerResponse): void {
    response.once('prefinish', () => this.add(response));
    // Emitted after a finish too, and when the connection is lost.
    response.once('close', () => this.remove(response));
  }

  /** Disconnects clients that read too slowly. */
  sweep(): void {
    for (const [response, { since }] of this.responses) {
      if (performance.now() - since < this.limits.sendMs) return;
      this.disconnect(response);
    }
  }

  private add(response: ServerResponse): void {
    const bytes = response.writableLength;
    if (bytes === 0) return;
    this.responses.set(response, { bytes, since: performance.now() });
    this.total += bytes;
    for (const [oldest] of this.responses) {
      if (this.total <= this.limits.unsentBytes) return;
      this.disconnect(oldest);
    }
  }

  private disconnect(response: ServerResponse): void {
    this.remove(response);
    response.destroy();
  }

  private remove(response: ServerResponse): void {
    this.total -= this.responses.get(response)?.bytes ?? 0;
    this.responses.delete(response);
  }
}
