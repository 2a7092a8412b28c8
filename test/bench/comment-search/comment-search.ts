/**
 * `[--items N] [--archive URL]`: the archive's part of comment searches, over an archive as `preview` has it: the
 * first page by time and by relevance, for words that a few, some and very many comments have. Beside them is one
 * statement that ranks everything that has the word, which is given up after 30 s.
 */
import { byRelevance, byTime } from '../../../services/api/reading/comment-order.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { Report } from '../main.ts';
import { readCorpus } from '../shared/corpus.ts';
import type { CorpusItem } from '../shared/corpus.ts';
import { withFilledArchive } from '../shared/filled-archive.ts';
import { plainText, readVocabulary } from '../shared/matcher-vocabulary.ts';
import { percentiles, spread } from '../shared/percentiles.ts';

const WORDS = 10;
const GIVEN_UP_MS = 30_000;
/** How many items of the corpus have the words of a group. */
const GROUPS = [
  { group: 'rare', least: 2, most: 20 },
  { group: 'usual', least: 200, most: 2_000 },
  { group: 'very common', least: 20_000, most: Infinity },
];

export default async function benchCommentSearch(report: Report, args: string[]): Promise<void> {
  const corpus = readCorpus();
  await withFilledArchive(report, args, corpus, (clickhouse) => measure(report, clickhouse, corpus.items));
}

async function measure(report: Report, clickhouse: ClickHouseClient, corpus: readonly CorpusItem[]): Promise<void> {
  const { counts } = readVocabulary(corpus.map(({ text }) => plainText(text)));
  for (const { group, least, most } of GROUPS) {
    const words = [...counts].filter(([, count]) => count >= least && count < most).map(([word]) => word);
    const chosen = spread(words, Math.min(WORDS, words.length));
    const comments: number[] = [];
    const ms: Record<'byTime' | 'byRelevance' | 'oneStatement', number[]> = {
      byTime: [],
      byRelevance: [],
      oneStatement: [],
    };
    for (const word of chosen) {
      const count = await countOf(clickhouse, word);
      // Only posts have it.
      if (count === 0) continue;
      comments.push(count);
      ms.byTime.push(await timed(() => firstPage(clickhouse, byTime, word)));
      ms.byRelevance.push(await timed(() => firstPage(clickhouse, byRelevance, word)));
      ms.oneStatement.push(await timed(() => rankEverything(clickhouse, word)));
    }
    report({
      group,
      words: comments.length,
      comments: percentiles(comments),
      by_time_ms: percentiles(ms.byTime),
      by_relevance_ms: percentiles(ms.byRelevance),
      one_statement_ms: percentiles(ms.oneStatement),
    });
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return Math.round(performance.now() - begun);
}

async function firstPage(clickhouse: ClickHouseClient, order: typeof byTime, word: string): Promise<void> {
  const { signal } = new AbortController();
  const deps = { clickhouse, ask: <T>(read: (ending: AbortSignal) => Promise<T>) => read(signal) };
  const wanted = { terms: [word], words: [word], subreddit: undefined, since: undefined, now: Date.now() };
  const first = await order(deps, wanted, undefined).next();
  if (first.done === true || first.value.length === 0) throw new Error(`nothing has ${word}`);
}

async function countOf(clickhouse: ClickHouseClient, word: string): Promise<number> {
  const result = await clickhouse.query({
    query: `SELECT count() AS counted FROM items WHERE kind = 'comment' AND hasAllTokens(words, [{word: String}])`,
    query_params: { word },
    format: 'JSONEachRow',
  });
  return Number((await result.json<{ counted: string }>())[0]?.counted);
}

/** The former search: it reads the text of everything that has the word. */
async function rankEverything(clickhouse: ClickHouseClient, word: string): Promise<void> {
  const result = clickhouse.query({
    query: `SELECT thing_id, title, body,
       intDiv(100000 * least(5, countSubstringsCaseInsensitiveUTF8(body, {word: String})), 100 + lengthUTF8(body)) AS relevance
  FROM items FINAL
 WHERE kind = 'comment' AND hasAllTokens(words, [{word: String}])
 ORDER BY relevance DESC, thing_id DESC
 LIMIT 60`,
    query_params: { word },
    format: 'JSONEachRow',
    clickhouse_settings: { max_execution_time: GIVEN_UP_MS / 1_000 },
    abort_signal: AbortSignal.timeout(GIVEN_UP_MS),
  });
  await result.then((rows) => rows.text()).catch(() => undefined);
}
