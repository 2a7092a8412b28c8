/** Notes on what is known of an hour or a range of time; see field-notes.ts. */
export const coverageFigures = {
  seen: 'Posts and comments that were first seen in this time, in all and by the source that saw them first: `post-ids`, `listings`, `threads`, `comment-ids` or `replay`.',
  late: 'Those first seen more than two minutes after their creation.',
  tombstones: 'Things that the forum removed in this time; their text and author are removed here too.',
  completeness:
    'The share of the posts and comments created in this time that were seen; null where it is not known. Posts: by their sequential ids; `unread` ids were never asked for, and count as missed. Comments: estimated from threads (`threads`) that were chosen at random and read completely some time later, with the bounds of the 95 % interval.',
  lag_seconds: 'From creation to first sight: median, 95th and 99th percentile, each within 2 %. null without items.',
  gaps: 'Gaps that were opened and closed in this time, and those open at its end.',
  budget:
    'Calls to the forum: `allowed` by its limits (null: not known), `used`, and by purpose. `refused`: how often a purpose had to wait, because the calls were needed for others; a refused call is tried again later.',
};
