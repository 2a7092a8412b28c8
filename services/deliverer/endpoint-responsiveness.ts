import type { Responsiveness } from './attempt-permits.ts';

/** About 10 MB; the endpoints whose last result is oldest are evicted first. */
const MAX_ENDPOINTS = 50_000;

/** How endpoints responded last, by webhook URL. In memory: a new process reads it from delivery_attempts. */
export class EndpointResponsiveness {
  private readonly known = new Map<string, Responsiveness>();

  of(url: string): Responsiveness {
    return this.known.get(url) ?? 'unknown';
  }

  /** Stores the result of an attempt of this process. */
  set(url: string, responsiveness: Responsiveness): void {
    this.known.delete(url);
    if (this.known.size >= MAX_ENDPOINTS) this.known.delete(this.known.keys().next().value!);
    this.known.set(url, responsiveness);
  }

  /** Stores the result of an earlier attempt or of another process, unless this process has a result of its own. */
  assume(url: string, isAnswering: boolean): void {
    if (!this.known.has(url)) this.set(url, isAnswering ? 'answering' : 'silent');
  }
}
