/**
 * Statements of a customer who wants the rows of others, files, other servers, or the whole machine: one of each kind,
 * all refused before they run. `ARCHIVE` stands for the archive's database, `SANDBOX` for the empty one.
 */
export const HOSTILE: readonly string[] = [
  // Other tables and databases, by every form of a name.
  'SELECT * FROM ARCHIVE.matches',
  'SELECT * FROM `ARCHIVE`.`matches`',
  'SELECT * FROM `ARCHIVE.matches`',
  'SELECT * FROM default.matches',
  'SELECT * FROM items',
  'SELECT * FROM matches_with_items',
  'SELECT * FROM system.users',
  'SELECT * FROM SYSTEM.ONE',
  'SELECT * FROM INFORMATION_SCHEMA.COLUMNS',
  'SELECT count() FROM matches AS m, ARCHIVE.monitors AS o',
  'SELECT * FROM matches JOIN ARCHIVE.matches AS o USING (seq)',
  'SELECT * FROM matches GLOBAL ANY LEFT JOIN system.users AS u ON 1 = 1',
  'SELECT * FROM matches ARRAY JOIN (SELECT groupArray(name) FROM system.users) AS name',
  // Names that are tables only in one scope.
  'SELECT * FROM (WITH items AS (SELECT 1 AS x) SELECT x FROM items) AS a, items',
  'WITH a AS (WITH items AS (SELECT 1 AS x) SELECT x FROM items) SELECT * FROM items',
  'WITH matches AS (SELECT * FROM ARCHIVE.matches) SELECT * FROM matches',
  'WITH RECURSIVE matches AS (SELECT * FROM ARCHIVE.matches) SELECT * FROM matches',
  "WITH 'items' AS t SELECT * FROM t",
  'SELECT * FROM SANDBOX.items',
  // Membership in a table.
  'SELECT * FROM matches WHERE monitor_id IN ARCHIVE.monitors',
  'SELECT * FROM matches WHERE seq GLOBAL IN system.numbers',
  'SELECT in(1, items)',
  'SELECT nullIn(1, system.one)',
  'SELECT * FROM matches WHERE title IN (SELECT name FROM system.users)',
  'SELECT exists(SELECT 1 FROM ARCHIVE.matches)',
  'SELECT (SELECT groupArray(body) FROM ARCHIVE.items)',
  // Unions and intersections.
  'SELECT title FROM matches UNION ALL SELECT title FROM ARCHIVE.items',
  'SELECT seq FROM ARCHIVE.matches EXCEPT SELECT seq FROM matches',
  // Table functions.
  "SELECT * FROM file('/etc/passwd', 'LineAsString')",
  "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
  "SELECT * FROM remote('127.0.0.1', ARCHIVE, matches)",
  "SELECT * FROM clusterAllReplicas('default', system.users)",
  "SELECT * FROM merge('ARCHIVE', '.*')",
  'SELECT * FROM view(SELECT * FROM ARCHIVE.matches)',
  "SELECT * FROM executable('cat /etc/passwd', 'TSV', 'x String')",
  'SELECT * FROM numbers(100000000000)',
  "SELECT * FROM format(JSONEachRow, '{}')",
  'SELECT * FROM mergeTreeTextIndex(ARCHIVE, items, item_words)',
  'SELECT * FROM (SHOW TABLES)',
  // Functions that read more than their arguments.
  "SELECT file('/etc/passwd')",
  "SELECT dictGet('d', 'a', 1)",
  "SELECT joinGet('ARCHIVE.matches', 'title', 1)",
  "SELECT getSetting('max_memory_usage')",
  'SELECT hostName(), version(), currentUser(), currentDatabase(), uptime()',
  "SELECT hasColumnInTable('ARCHIVE', 'matches', 'title')",
  'SELECT sleepEachRow(3) FROM matches',
  'SELECT countMerge(x) FROM matches',
  'SELECT * APPLY(sleep) FROM matches',
  'SELECT matches.* REPLACE(sleep(3) AS title) FROM matches',
  // Clauses that are no part of a SELECT.
  'SELECT 1 SETTINGS max_execution_time = 0',
  'SELECT * FROM (SELECT 1 SETTINGS max_memory_usage = 0)',
  "SELECT 1 INTO OUTFILE '/tmp/stolen'",
  "SELECT 1 FORMAT JSON SETTINGS format_schema = 'x'",
  'SELECT 1 ORDER BY 1 WITH FILL FROM 1 TO 1000000000',
  // Other statements.
  'INSERT INTO ARCHIVE.matches SELECT * FROM ARCHIVE.matches',
  'DROP TABLE ARCHIVE.matches',
  'CREATE TABLE x ENGINE = Memory AS SELECT 1',
  'SYSTEM SHUTDOWN',
  'SET max_memory_usage = 0',
  'SHOW CREATE TABLE ARCHIVE.matches',
  'EXPLAIN SELECT * FROM ARCHIVE.matches',
  'GRANT ALL ON *.* TO CURRENT_USER',
  // Types that are read from bytes of the author's choice.
  "SELECT CAST('x' AS AggregateFunction(sum, UInt64))",
  "SELECT CAST('x', concat('Aggregate', 'Function(sum, UInt64)'))",
  "SELECT CAST('x', 'Enum8(\\'a\\' = 1, \\'AggregateFunction(sum, UInt64)\\' = 2), AggregateFunction(sum, UInt64)')",
  "SELECT CAST('{}' AS JSON)",
  // Several statements, parameters, comments.
  'SELECT 1; SELECT * FROM ARCHIVE.matches',
  'SELECT 1 /* ; */ ; -- x\nSELECT * FROM system.users',
  'SELECT * FROM {t: Identifier}',
  'SELECT 1 /* FROM matches */ FROM ARCHIVE.matches',
  'SELECT 1 # x\n FROM ARCHIVE.matches',
  'SELECT 1 FROM /**/ARCHIVE/**/./**/matches',
  // Ways out of the server's part of the statement.
  'SELECT 1) AS asked UNION ALL SELECT body FROM ARCHIVE.items --',
  'SELECT 1 FROM matches) SELECT * FROM ARCHIVE.matches --',
  'SELECT 1 AS `x\n  TableIdentifier matches`',
  'SELECT asked.* FROM ARCHIVE.items AS asked',
  // Encodings.
  '\ufeffSELECT * FROM ARCHIVE.matches',
  'SELECT * FROM ARCHIVE\uff0ematches',
  'SELECT\u00a0*\u00a0FROM\u00a0ARCHIVE.matches',
  'SELECT * FROM ARCHIVE.matches\u0000',
];

/** They run, and show the author's own rows alone. `MONITOR` stands for a monitor of somebody else. */
export const GREEDY_FOR_ROWS: readonly string[] = [
  "SELECT * FROM matches WHERE monitor_id = 'MONITOR' OR 1 = 1",
  'SELECT groupArray(monitor_id), groupArray(name) FROM monitors',
  'SELECT m.*, d.*, o.* FROM matches AS m, deliveries AS d, monitors AS o LIMIT 50',
  'SELECT * FROM matches FULL OUTER JOIN deliveries USING (match_id)',
  "SELECT '\\') FROM ARCHIVE.matches --'",
  // An error quotes the value that it is about: conditions must never run over the rows of others.
  'SELECT count() FROM matches WHERE toUInt64(matched_terms[1]) = 1',
  'SELECT count() FROM deliveries WHERE toUInt64(toString(host)) = 1',
  'SELECT name FROM monitors WHERE toDate(name) = today() ORDER BY created_at LIMIT 5',
  "SELECT CAST(name AS Enum8('mine' = 1)) FROM monitors WHERE CAST(name AS Enum8('mine' = 1)) = 'mine'",
];

/** Statements that would take all memory, disk or time; each must end within its limits. */
export const GREEDY: readonly string[] = [
  'SELECT count() FROM matches a, matches b, matches c, matches d, matches e, matches f, matches g, matches h, matches i',
  'SELECT a.body, b.body FROM matches a, matches b, matches c, matches d, matches e',
  'WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT sum(n) FROM r',
  `SELECT ${doubled('body', 28)} FROM matches`,
  "SELECT repeat('x', 1000000000)",
  'SELECT arrayJoin(range(1000000000))',
  `SELECT ${'('.repeat(2_000)}1${')'.repeat(2_000)}`,
  `SELECT 1 ${'UNION ALL SELECT 1 '.repeat(500)}`,
];

/**
 * Statements with one call of a function that takes minutes or hours, which the engine cannot interrupt: each must be
 * refused before it runs.
 */
export const ENDLESS: readonly string[] = [
  // A long text that is searched for each of many needles.
  'SELECT sum(position(t, title)) FROM (SELECT body AS t FROM matches LIMIT 1) AS a, matches AS b',
  'SELECT replaceAll(body, title, author) FROM matches',
  "SELECT body NOT ILIKE concat('%', title) FROM matches",
  'SELECT match(body, title), extract(body, title) FROM matches',
  // A long list that is searched for each of many values.
  'WITH (SELECT groupArray(seq) FROM matches) AS a SELECT arrayMap(x -> indexOf(a, x), a)',
  'SELECT hasAll(a, a), hasAny(a, a), arrayIntersect(a, a) FROM (SELECT groupArray(seq) AS a FROM matches)',
  // Patterns that take microseconds for each character.
  "SELECT replaceRegexpAll(body, '(a|b|ab|ba){1,500}x?', 'x') FROM matches",
  "SELECT extract(body, '(((a?){9}){9}){9}b') FROM matches",
  `SELECT replaceRegexpOne(body, '(${'(a|b|ab|ba)?'.repeat(20)})', 'x') FROM matches`,
  `SELECT body LIKE '%a${'_'.repeat(300)}b%' FROM matches`,
];

/** `concat(concat(x, x), concat(x, x))` … by subqueries' aliases: 2^times as long. */
function doubled(text: string, times: number): string {
  const steps = Array.from({ length: times }, (_, at) => `concat(v${at}, v${at}) AS v${at + 1}`);
  return `${text} AS v0, ${steps.join(', ')}, v${times}`;
}

/** What analysts ask. Each has rows. */
export const ORDINARY: readonly string[] = [
  'SELECT now() > toDateTime(0) AS later',
  'SELECT * FROM matches',
  'SELECT * FROM deliveries',
  'SELECT * FROM monitors',
  'SELECT count(*) AS found, uniqExact(author) AS authors FROM matches;',
  'SELECT subreddit, count() AS found FROM matches GROUP BY subreddit ORDER BY found DESC, subreddit',
  "SELECT title, author FROM matches WHERE has(matched_terms, 'iron') AND body ILIKE '%RUST%' ORDER BY seq LIMIT 3",
  'SELECT quantile(0.5)(duration_ms), quantileExact(0.99)(duration_ms) FROM deliveries',
  'SELECT m.seq FROM matches m LEFT JOIN deliveries d USING (match_id) WHERE d.attempt = 1 ORDER BY m.seq',
  'SELECT n.name, count() FROM monitors n INNER JOIN matches m USING (monitor_id) GROUP BY n.name',
  'WITH a AS (SELECT seq FROM matches), b AS (SELECT seq FROM a WHERE seq < 5) SELECT sum(seq) FROM b',
  'SELECT seq FROM matches WHERE match_id IN (SELECT match_id FROM deliveries WHERE duration_ms > 100)',
  'SELECT seq FROM matches EXCEPT SELECT seq FROM matches WHERE seq > 3',
  "SELECT CASE WHEN seq < 5 THEN 'a' ELSE 'b' END AS c, count() FROM matches GROUP BY c ORDER BY c",
  'SELECT seq, sum(duration_ms) OVER (ORDER BY seq ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM deliveries ORDER BY seq',
  'SELECT arrayMap(t -> upper(t), matched_terms) FROM matches LIMIT 1',
  "SELECT extract(body, '\\\\b([0-9]{4}-[0-9]{2}-[0-9]{2})\\\\b') AS day, replaceRegexpAll(title, '\\\\s+', ' ') FROM matches",
  "SELECT position(body, 'rust'), countSubstrings(body, 'r'), replaceAll(title, 'a', author) FROM matches",
  "SELECT hasAny(matched_terms, ['iron', 'steel']), has(['metals', 'cars'], subreddit) FROM matches",
  'SELECT toDate(created_at) AS day, count() FROM matches WHERE created_at > now() - INTERVAL 7 DAY GROUP BY day',
  'SELECT subreddit, seq FROM matches ORDER BY seq LIMIT 1 BY subreddit',
  "SELECT NULL AS nothing, (1, NULL), [1, NULL], INTERVAL 1 DAY, true, DATE '2020-01-01', CAST(seq AS DOUBLE PRECISION) FROM matches",
  "SELECT CAST('1', 'Nullable(Decimal(10, 2))'), '[1]'::Array(UInt8), accurateCastOrNull(seq, 'UInt8') FROM matches",
  "SELECT CAST('a b', 'Enum8(\\'it\\\\\\'s (\\' = -1, \\'a b\\' = 2)'), CAST(created_at AS DateTime('UTC')) FROM matches",
  'SELECT * EXCEPT (title, body) FROM matches LIMIT 1',
  '-- a comment\nSELECT /* another */ count() FROM matches HAVING count() > 1',
];
