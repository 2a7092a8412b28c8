import { setImmediate as turn } from 'node:timers/promises';
import { DeliveryDispatcher } from '../../services/deliverer/delivery-dispatcher.ts';
import type { AttemptEnd, DispatcherLimits } from '../../services/deliverer/dispatcher-options.ts';
import type { ClaimedDelivery } from '../../shared/stores/deliveries.ts';

interface Started {
  id: string;
  url: string;
  end: (how?: AttemptEnd) => void;
}

/** The dispatcher over matches held in memory; attempts last until a test ends them. */
export class DispatcherBench {
  readonly started: Started[] = [];
  readonly urls = new Map<string, string | null>();
  readonly rows = new Map<string, Set<number>>();
  readonly givenBack: string[] = [];
  readonly errors: unknown[] = [];
  readonly outages: boolean[] = [];
  now = 0;
  skipped = 0;
  claims = 0;
  readonly dispatcher: DeliveryDispatcher;

  constructor(limits: Partial<DispatcherLimits> = {}) {
    const claim = (monitorId: string, wanted: number[]) => {
      this.claims++;
      const url = this.urls.get(monitorId) ?? null;
      const rows = this.rows.get(monitorId) ?? new Set();
      const seqs = url === null ? [] : wanted.filter((seq) => rows.delete(seq)).sort((a, b) => a - b);
      const deliveries = seqs.map((seq) => ({ monitorId, seq, attempt: 0, webhookUrl: url }) as ClaimedDelivery);
      return turn({ deliveries, claimedAt: 0 });
    };
    this.dispatcher = new DeliveryDispatcher({
      queue: {
        target: (monitorId) => turn({ monitorId, webhookUrl: this.urls.get(monitorId) ?? null, isAnswering: null }),
        claimNew: (monitorId, seqs) => claim(monitorId, [...seqs]),
        claimDue: (monitorId, limit) => claim(monitorId, [...(this.rows.get(monitorId) ?? [])].slice(0, limit)),
        giveBack: async (deliveries) => {
          for (const { monitorId, seq } of deliveries) {
            this.rows.get(monitorId)?.add(seq);
            this.givenBack.push(`${monitorId}/${seq}`);
          }
        },
        skipUndeliverable: async () => {
          this.skipped++;
          return false;
        },
      },
      attempt: ({ monitorId, seq, webhookUrl }) =>
        new Promise((resolve) => {
          const end = (how: AttemptEnd = { kind: 'answered', afterMs: 0 }) => {
            resolve(how);
          };
          this.started.push({ id: `${monitorId}/${seq}`, url: webhookUrl, end });
        }),
      onOutage: ({ isPaused }) => this.outages.push(isPaused),
      onError: (error) => this.errors.push(error),
      monotonic: () => this.now,
      limits,
    });
  }

  add(monitorId: string, url: string | null, seqs: number[]): void {
    this.urls.set(monitorId, url);
    this.rows.set(monitorId, new Set(seqs));
  }

  hintAll(monitorId: string): void {
    for (const seq of this.rows.get(monitorId)!) this.dispatcher.hint(monitorId, seq);
  }

  ids(): string[] {
    return this.started.map(({ id }) => id);
  }

  async settle(): Promise<void> {
    for (let i = 0; i < 30; i++) await turn();
  }

  /** Ends attempts, those begun meanwhile too, until none is begun any more. */
  async drain(): Promise<void> {
    for (let ended = 0; ended < this.started.length;) {
      while (ended < this.started.length) this.started[ended++]!.end();
      await this.settle();
    }
  }
}

/** 1 … count. */
export const range = (count: number) => Array.from({ length: count }, (_, i) => i + 1);
