import type { ServerResponse } from 'node:http';

interface Unsent {
  bytes: number;
  /** By performance.now(). */
  since: number;
}

export interface UnsentLimits {
  /** Bytes over all connections. */
  unsentBytes: number;
  /** Milliseconds from when an answer is whole until its client took it. */
  sendMs: number;
}

/**
 * Answers that are made and that their clients have not taken. A client that takes too long is cut off; beyond the
 * bytes that all may take together, those who take longest are.
 */
export class UnsentAnswers {
  private readonly limits: UnsentLimits;
  /** Oldest first. */
  private readonly answers = new Map<ServerResponse, Unsent>();
  private total = 0;

  constructor(limits: UnsentLimits) {
    this.limits = limits;
  }

  /** Bytes. */
  get bytes(): number {
    return this.total;
  }

  watch(response: ServerResponse): void {
    response.once('prefinish', () => this.add(response));
    // Also after a finish, and when the connection is lost.
    response.once('close', () => this.remove(response));
  }

  /** Cuts off clients that take too long. */
  sweep(): void {
    for (const [response, { since }] of this.answers) {
      if (performance.now() - since < this.limits.sendMs) return;
      this.cutOff(response);
    }
  }

  private add(response: ServerResponse): void {
    const bytes = response.writableLength;
    if (bytes === 0) return;
    this.answers.set(response, { bytes, since: performance.now() });
    this.total += bytes;
    for (const [oldest] of this.answers) {
      if (this.total <= this.limits.unsentBytes) return;
      this.cutOff(oldest);
    }
  }

  private cutOff(response: ServerResponse): void {
    this.remove(response);
    response.destroy();
  }

  private remove(response: ServerResponse): void {
    this.total -= this.answers.get(response)?.bytes ?? 0;
    this.answers.delete(response);
  }
}
