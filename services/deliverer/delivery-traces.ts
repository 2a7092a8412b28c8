/** Enough for the hints of some seconds; the oldest are forgotten first. */
const MOST = 10_000;

/** The traces of sampled matches between their hint and their first attempt. */
export class DeliveryTraces {
  private readonly traceparents = new Map<string, string>();

  note(monitorId: string, seq: number, traceparent: string | undefined): void {
    if (traceparent === undefined) return;
    this.traceparents.set(keyOf(monitorId, seq), traceparent);
    if (this.traceparents.size <= MOST) return;
    const [oldest] = this.traceparents.keys();
    if (oldest !== undefined) this.traceparents.delete(oldest);
  }

  /** Returns the trace once: a retry has none. */
  take(monitorId: string, seq: number): string | undefined {
    const key = keyOf(monitorId, seq);
    const traceparent = this.traceparents.get(key);
    this.traceparents.delete(key);
    return traceparent;
  }
}

function keyOf(monitorId: string, seq: number): string {
  return `${monitorId}|${seq}`;
}
