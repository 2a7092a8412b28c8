import type { Responsiveness } from './attempt-permits.ts';

/** Some 10 MB; those that were learnt longest ago are forgotten first. */
const MAX_ENDPOINTS = 50_000;

/** What this process knows of endpoints, by webhook URL. */
export class EndpointResponsiveness {
  private readonly known = new Map<string, Responsiveness>();

  of(url: string): Responsiveness {
    return this.known.get(url) ?? 'unknown';
  }

  /** An attempt of this process told. */
  set(url: string, responsiveness: Responsiveness): void {
    this.known.delete(url);
    if (this.known.size >= MAX_ENDPOINTS) this.known.delete(this.known.keys().next().value!);
    this.known.set(url, responsiveness);
  }

  /** An attempt that was made before, or by another process, told; what this one knows itself counts more. */
  assume(url: string, isAnswering: boolean): void {
    if (!this.known.has(url)) this.set(url, isAnswering ? 'answering' : 'silent');
  }
}
