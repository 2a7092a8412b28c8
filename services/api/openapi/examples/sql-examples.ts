import type { SqlAnswer } from '../../../../schemas/api/sql.ts';

/** Requests and answers of POST /v1/sql, invented. */
export const sqlExamples = {
  body: { query: 'SELECT subreddit, count() AS found FROM matches GROUP BY subreddit ORDER BY found DESC LIMIT 2' },
  answer: {
    columns: [
      { name: 'subreddit', type: 'LowCardinality(String)' },
      { name: 'found', type: 'UInt64' },
    ],
    rows: [
      ['Coffee', 128],
      ['espresso', 41],
    ],
    credits_used: 1,
  } satisfies SqlAnswer,
  csv: 'subreddit,found\n"Coffee",128\n"espresso",41\n',
};
