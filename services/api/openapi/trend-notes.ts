/** Notes on what the routes about trends answer; see field-notes.ts. */
export const trendNotes: Record<string, Record<string, string>> = {
  Timeseries: {
    from: 'Start of the first interval that is answered; later than asked for when `truncated`.',
    to: 'End of the last interval.',
    as_of: 'When it was computed. Matches are counted a few seconds after they were recorded.',
    items: 'Counts by interval, ascending, then by count; those of 0 are left out.',
    truncated:
      'Whether the oldest intervals were left out because of the limit of 10,000 items. Ask for them with `to` set to the `from` of this answer.',
    spikes: 'Hours of the range with unusually many matches, ascending.',
  },
  TimeseriesItem: {
    at: 'Start of the interval.',
    keyword:
      'Keyword or term as it is written in the monitor; null: all of them, or all that have no items of their own.',
    subreddit: 'Community; null: all of them, or all that have no items of their own.',
    count:
      'Matches. A match counts for each of its keywords, so sums over keywords can be larger than the number of matches.',
  },
  Spike: {
    at: 'Start of the hour.',
    count: 'Matches of the hour, without those of backfills and of items seen more than an hour after their creation.',
    median: 'Median of the same hour on the days before.',
    scale: 'How far the hour usually is from its median: the largest of 1.4826·MAD, √median and 1.',
    score: '(count − median) / scale; at least 5.',
    days: 'How many days it was compared with.',
  },
  LatencyDay: {
    day: 'UTC date: of the recording, for `receiver_ms` of the attempt.',
    created_to_seen_ms: 'Milliseconds from the creation on the forum to the first sight, without items of dump files.',
    seen_to_recorded_ms: 'Milliseconds from the first sight to the recorded match.',
    recorded_to_delivered_ms:
      'Milliseconds from the recorded match to the answer of the receiver that took it, the first time, with all retries before.',
    receiver_ms: 'Milliseconds that the receiver took to answer, of all attempts that it answered.',
  },
};
