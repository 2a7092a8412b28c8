const LEFT_OUT_MS = 86_400_000;
/** More names than this in a minute are no fault of the names. */
const MAX_A_MINUTE = 3;
const MINUTE_MS = 60_000;
const SUSPENDED_MS = 600_000;

/** Communities that the forum refuses to list. They are left out for a day. Times are milliseconds since 1970. */
export class RefusedNames {
  private readonly refusedAt = new Map<string, number>();
  private suspendedUntil = -Infinity;

  has(name: string, now: number): boolean {
    const at = this.refusedAt.get(name);
    if (at === undefined || now - at < LEFT_OUT_MS) return at !== undefined;
    this.refusedAt.delete(name);
    return false;
  }

  add(name: string, now: number): void {
    this.refusedAt.set(name, now);
  }

  /**
   * True if the forum has refused so many names that it may refuse all. Then those of the last minute are not left out,
   * and for ten minutes no name is blamed.
   */
  isTooMany(now: number): boolean {
    if (now < this.suspendedUntil) return true;
    const recent = [...this.refusedAt].filter(([, at]) => now - at < MINUTE_MS);
    if (recent.length < MAX_A_MINUTE) return false;
    for (const [name] of recent) this.refusedAt.delete(name);
    this.suspendedUntil = now + SUSPENDED_MS;
    return true;
  }
}
