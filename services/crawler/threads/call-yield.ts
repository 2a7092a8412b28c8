/** The mean is over about so many calls. */
const CALLS = 300;

/** Measures how many comments a call brings on average, checks and readings together. */
export class CallYield {
  private comments = 0;
  private calls = 0;

  /** Notes a call that brought so many comments. */
  note(comments: number): void {
    const left = 1 - 1 / CALLS;
    this.comments = this.comments * left + comments;
    this.calls = this.calls * left + 1;
  }

  /** 0 before the first call. */
  get perCall(): number {
    return this.calls === 0 ? 0 : this.comments / this.calls;
  }
}
