/**
 * How many comments a thread will get. All threads together get comments at a rate that falls with their age; one
 * thread gets a multiple of it, which its comments so far tell (a gamma prior with the observations of a Poisson
 * process). So a new post is looked at soon, a quiet one ever less often, and one that others write in often.
 */

/** Comments that a mean thread gets while its age, counted from ten minutes before its birth, grows by a factor e. */
const COMMENTS_PER_FACTOR = 1.5;
const HEAD_START_S = 600;
/** What nothing is known of differs widely: most threads stay empty, a few get thousands of comments. */
const SHAPE = 0.3;

/** The comments that a mean thread gets between two ages, in milliseconds. */
export function meanComments(fromAgeMs: number, toAgeMs: number): number {
  const from = Math.max(0, fromAgeMs) / 1000 + HEAD_START_S;
  const to = Math.max(0, toAgeMs) / 1000 + HEAD_START_S;
  return to <= from ? 0 : COMMENTS_PER_FACTOR * Math.log(to / from);
}

/**
 * Comments a second that a thread can be expected to get now.
 *
 * @param comments that it got while a mean thread would have got `mean`
 */
export function expectedRate(ageMs: number, comments: number, mean: number): number {
  const meanRate = COMMENTS_PER_FACTOR / (Math.max(0, ageMs) / 1000 + HEAD_START_S);
  return ((SHAPE + comments) / (SHAPE + mean)) * meanRate;
}

/** How much of older observations is left after a time in which a mean thread gets `mean` comments. */
export function remembered(mean: number): number {
  return Math.exp(-mean / 2);
}
