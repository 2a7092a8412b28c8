/** What the names of previews' fields do not say. */
export const previewNotes: Record<string, Record<string, string>> = {
  Preview: {
    exact: 'Whether every match of the period was counted.',
    exact_from: 'From here on every match was counted; older ones only as far as they were read.',
    archive_from: 'When the oldest item of the archive was seen; null when it is empty.',
    by_day: 'UTC days with matches, by when they were seen, the newest first.',
    by_keyword: 'The most frequent first. A match with two keywords counts for both.',
    by_subreddit: 'The 50 communities with most matches.',
    samples: 'The newest 20.',
    capped_days:
      "UTC days with more matches to be sent than the plan's daily cap. With `thread_once`, a thread counts once a day.",
    credits_per_30_days: 'What a running monitor costs in 30 days, whatever it finds.',
    suggestions: 'What could be added to the rule. Counts decide; each suggestion has its own.',
  },
  PreviewSample: {
    title: 'For a comment, the title of its post.',
    highlights:
      'The first place of each matched term, in UTF-16 code units [start, end). `post_title` is `title` of a comment.',
  },
  Suggestion: {
    kind: '`exclude`, `keyword`: a word that stands out in matches; `variant`: another form of a keyword, which occurs; `subreddit`: a community with many matches.',
    of: 'The keyword that a variant is a form of.',
    matches: 'Matches with it, of `matches_compared`.',
    stream: 'Items with it in a sample of everything, of `stream_compared`.',
    lift: 'Its share of the matches divided by its share of the sample; null for variants.',
  },
  MonitorDiff: {
    gained: 'What the changed rule matches and the present one does not; the newest 20 as samples.',
    lost: 'What the present rule matches and the changed one does not.',
    kept: 'What both match.',
    exact: 'Whether the whole period was compared.',
    exact_from: 'From here on everything was compared.',
    archive_from: 'When the oldest item of the archive was seen; null when it is empty.',
  },
};
