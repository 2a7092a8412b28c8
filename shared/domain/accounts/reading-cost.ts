/** Comments of a post that the first credit covers. */
const FIRST_COMMENTS = 500;
/** Comments that each further credit covers. */
const FURTHER_COMMENTS = 100;

/** Credits for a post with this many comments. */
export function postCost(comments: number): number {
  return 1 + Math.ceil(Math.max(0, comments - FIRST_COMMENTS) / FURTHER_COMMENTS);
}

/** How many comments this many credits (at least 1) cover. */
export function coveredComments(credits: number): number {
  return FIRST_COMMENTS + FURTHER_COMMENTS * (credits - 1);
}
