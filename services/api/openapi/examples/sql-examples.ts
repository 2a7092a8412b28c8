import type { SqlAnswer } from '../../../../schemas/api/sql.ts';

/** Requests and answers of POST /v1/sql, invented. */
export const sqlExamples = {
  body: { query: 'SELECT subreddit, count(*) AS found FROM matches GROUP BY subreddit ORDER BY found DESC LIMIT 2' },
  answer: {
    columns: [
      { name: 'subreddit', type: 'VARCHAR' },
      { name: 'found', type: 'BIGINT' },
    ],
    rows: [
      ['Coffee', 128],
      ['espresso', 41],
    ],
    rows_read: 4_260,
    credits_used: 1,
  } satisfies SqlAnswer,
  csv: 'subreddit,found\nCoffee,128\nespresso,41\n',
};
