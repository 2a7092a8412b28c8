interface Event {
  at: number;
  order: number;
  run: (now: number) => void;
}

/**
 * Virtual time: runs events in the order of their times, and those of the same millisecond in the order in which they
 * were scheduled. Times are milliseconds since 1970.
 */
export class EventQueue {
  now: number;
  private readonly heap: Event[] = [];
  private scheduled = 0;

  constructor(startsAt: number) {
    this.now = startsAt;
  }

  /** Schedules `run` for a time; a time in the past means now. */
  at(time: number, run: (now: number) => void): void {
    const event = { at: Math.max(this.now, Math.ceil(time)), order: this.scheduled++, run };
    const { heap } = this;
    let index = heap.length;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = event;
  }

  /** Runs all events up to a time. */
  runUntil(time: number): void {
    for (let event = this.heap[0]; event && event.at <= time; event = this.heap[0]) {
      this.removeFirst();
      this.now = event.at;
      event.run(event.at);
    }
    this.now = time;
  }

  private removeFirst(): void {
    const { heap } = this;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, last)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
