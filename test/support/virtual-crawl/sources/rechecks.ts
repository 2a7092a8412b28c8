import type { SourceContext } from '../virtual-crawl.ts';
import type { VirtualCall, VirtualSource } from '../virtual-source.ts';

/** Two looks at each of 149 items a second, a hundred items a call. */
const WANTED_PER_SECOND = 3;
const LONGEST_MS = 60_000;

/** The calls that second looks at older items take. They find no new items, so the model does not answer them. */
export class VirtualRechecks implements VirtualSource {
  readonly name = 'rechecks';
  readonly maxInFlight = 2;
  private readonly context: SourceContext;
  private nextAt = 0;

  constructor(context: SourceContext) {
    this.context = context;
  }

  begin(): void {
    this.nextAt = 0;
  }

  next(now: number): VirtualCall | { waitMs: number } {
    if (now < this.nextAt) return { waitMs: this.nextAt - now };
    const perSecond = Math.min(WANTED_PER_SECOND, this.context.process.budget.perSecond('recheck', now));
    this.nextAt = now + Math.min(LONGEST_MS, 1000 / Math.max(1e-3, perSecond));
    const nothing = () => undefined;
    return {
      request: { path: '/api/info', names: [] },
      lane: 'recheck',
      purpose: 'rechecks',
      succeeded: nothing,
      failed: nothing,
    };
  }

  position(): unknown {
    return undefined;
  }
}
