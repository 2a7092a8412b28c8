/**
 * `bench -- rules [QUERY…]`: how many items of ITEMS_CORPUS each example of services/api/monitors/WRITING-RULES.md
 * finds, beside the figure that the page states; or each of the given queries. Without that file nothing is measured: a
 * generated text has no real words.
 */
import { parseQuery } from '../../../services/api/monitors/query/parse-query.ts';
import { loadLanguageDetector } from '../../../shared/language/load-language-detector.ts';
import type { LanguageDetector } from '../../../shared/language/load-language-detector.ts';
import { MonitorIndex } from '../../../shared/matching/monitor-index.ts';
import type { MatchItem } from '../../../shared/matching/rule.ts';
import { ruleExamples } from '../../support/samples/rule-examples.ts';
import type { Report } from '../main.ts';
import { readCorpus } from '../shared/corpus.ts';
import type { CorpusItem } from '../shared/corpus.ts';

export default async function bench(report: Report, queries: string[]): Promise<void> {
  const corpus = readCorpus();
  if (corpus.name !== 'real') {
    report({ skipped: 'the file of ITEMS_CORPUS does not exist' });
    return;
  }
  const index = new MonitorIndex();
  const examples =
    queries.length > 0
      ? queries.map((query) => ({ query, found: undefined }))
      : ruleExamples().filter(({ found }) => found !== undefined);
  for (const { query } of examples) {
    const parsed = parseQuery(query);
    if ('refusal' in parsed) throw new Error(`${query}: ${parsed.refusal.message}`);
    index.set(query, parsed.settings);
  }
  const found = new Map<string, number>();
  const detectLanguage = await loadLanguageDetector();
  for (const item of corpus.items) {
    for (const { monitorId } of index.match(matchItemOf(item, detectLanguage)))
      found.set(monitorId, (found.get(monitorId) ?? 0) + 1);
  }
  for (const { query, found: stated } of examples) {
    report({
      query,
      items: corpus.items.length,
      found: found.get(query) ?? 0,
      ...(stated !== undefined && { stated }),
    });
  }
}

/** The corpus has no authors and no posts of comments. A post is its title, an empty line and its text. */
function matchItemOf({ kind, subreddit, text }: CorpusItem, detectLanguage: LanguageDetector): MatchItem {
  const titleEnd = kind === 'post' ? text.indexOf('\n\n') : -1;
  const title = kind === 'post' ? text.slice(0, titleEnd === -1 ? undefined : titleEnd) : '';
  const body = kind === 'post' ? (titleEnd === -1 ? '' : text.slice(titleEnd + 2)) : text;
  const language = detectLanguage(kind === 'post' ? [title, body] : [body]);
  return { kind, title, text: body, subreddit, nsfw: false, language };
}
