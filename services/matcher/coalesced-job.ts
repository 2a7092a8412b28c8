/**
 * A job that never runs twice at the same time. All calls during a run share one further run after it.
 */
export class CoalescedJob {
  private readonly job: () => Promise<void>;
  private running: Promise<void> | undefined;
  private following: Promise<void> | undefined;

  constructor(job: () => Promise<void>) {
    this.job = job;
  }

  /** Settles with the result of a run that starts with this call or later. */
  run(): Promise<void> {
    if (this.running) {
      this.following ??= this.running
        .catch(() => undefined)
        .then(() => {
          this.following = undefined;
          return this.run();
        });
      return this.following;
    }
    this.running = this.job().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  /** Settles when all requested runs are done; undefined when none is running. */
  get whenIdle(): Promise<void> | undefined {
    return this.following ?? this.running;
  }
}
