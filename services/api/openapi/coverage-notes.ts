const coverageFigures = {
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

/** Notes on what the route about coverage answers; see field-notes.ts. */
export const coverageNotes: Record<string, Record<string, string>> = {
  Coverage: {
    from: 'Start of the first hour.',
    to: 'End of the last hour.',
    hours: 'Every hour of the range, oldest first.',
    total: 'All hours together.',
    gaps: 'The newest 200 gaps that were open at some time of the range, newest first.',
    gap_count: 'The number of all gaps that were open at some time of the range.',
  },
  CoverageHour: {
    hour: 'Start of the hour.',
    measured_at: 'When the figures last changed; null: nothing was measured, and the figures mean nothing.',
    ...coverageFigures,
  },
  CoverageTotal: coverageFigures,
  CoverageGap: {
    source: 'The source that may have missed something.',
    reason: 'The reason, as one word.',
    outcome: '`filled`: all that can be found was found. `given_up`: no longer searched for. null: still open.',
    created_from: 'Earliest creation of what is missing; null: not known.',
    created_to: 'Latest creation of what is missing; null: not known.',
    after: 'The last thing seen before the gap; null: not known.',
    before: 'The first thing seen after the gap; null: not known.',
    found: 'Things of the gap that were found since.',
  },
};
