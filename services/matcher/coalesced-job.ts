/**
 * A job that is run whenever somebody asks, once at a time. All who ask while it runs are served by one run after it.
 */
export class CoalescedJob {
  private readonly job: () => Promise<void>;
  private running: Promise<void> | undefined;
  private following: Promise<void> | undefined;

  constructor(job: () => Promise<void>) {
    this.job = job;
  }

  /** Settles as a run of the job does that began with this call or after it. */
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

  /** Settles when everything that was asked for is done; undefined: it is. */
  get whenIdle(): Promise<void> | undefined {
    return this.following ?? this.running;
  }
}
