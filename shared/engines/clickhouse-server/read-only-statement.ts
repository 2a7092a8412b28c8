const MOST_ANSWER_BYTES = 256 * 2 ** 20;

/**
 * What each statement of a reader may use: seconds, rows and bytes of its answer, bytes in memory and on disk, threads. Smaller values may
 * be asked for.
 */
const LIMITS: Record<string, number> = {
  max_execution_time: 30,
  max_result_rows: 1_000_000,
  max_result_bytes: MOST_ANSWER_BYTES,
  max_memory_usage: 2 ** 30,
  max_temporary_data_on_disk_size_for_query: 2 ** 30,
  max_threads: 4,
};

/** Settings that only change how an answer looks, or bound it. Many others reach files, or lift bounds that keep the engine alive. */
const HARMLESS_SETTING =
  /^(?:param_\w+|output_format_\w+|date_time_\w+|result_overflow_mode|session_timezone|final|join_use_nulls|extremes|limit|offset|log_comment)$/;

/** Sent by drivers with every statement; they mean nothing to a reader. */
const IGNORED_SETTINGS = new Set(['readonly', 'async_insert', 'wait_for_async_insert']);

const READING_WORDS = new Set(['SELECT', 'WITH', 'SHOW', 'DESCRIBE', 'EXPLAIN', 'EXISTS']);

/** The table functions that reach neither files nor other servers. What the engine has beyond these is in FORBIDDEN_FUNCTIONS. */
export const HARMLESS_TABLE_FUNCTIONS = new Set([
  'format',
  'generate_series',
  'generateRandom',
  'generateSeries',
  'merge',
  'null',
  'numbers',
  'numbers_mt',
  'primes',
  'SQLStandardValues',
  'values',
  'view',
  'viewExplain',
  'viewIfPermitted',
  'zeros',
  'zeros_mt',
]);

/** Functions that read files, reach other servers, or never end; in lower case. A test compares the list with the engine's own. */
export const FORBIDDEN_FUNCTIONS = new Set(
  `aiclassify aiembed aiextract aigenerate aitranslate arrowstream azureblobstorage azureblobstoragecluster catboostevaluate cluster
   clusterallreplicas cosn deltalake deltalakeazure deltalakeazurecluster deltalakecluster deltalakelocal deltalakes3 deltalakes3cluster
   dictionary eval executable file filecluster filesystem fuzzjson fuzzquery gcs hdfs hdfscluster hudi hudicluster iceberg icebergazure
   icebergazurecluster icebergcluster iceberghdfs iceberghdfscluster iceberglocal iceberglocalcluster icebergs3 icebergs3cluster input
   jdbc loop mergetreeanalyzeindexes mergetreeanalyzeindexesuuid mergetreeindex mergetreeprojection mergetreetextindex mongodb mysql
   odbc oss paimon paimonazure paimonazurecluster paimoncluster paimonhdfs paimonhdfscluster paimonlocal paimons3 paimons3cluster
   postgresql prometheusquery prometheusqueryrange redis remote remotesecure s3 s3cluster sqlite timeseriesdata timeseriesmetrics
   timeseriessamples timeseriesselector timeseriestags url urlcluster ytsaurus`.split(/\s+/),
);

/** The reader's own settings within the limits, and the limits. @throws Error for a setting that is not a reader's to choose. */
export function readOnlySettings(asked: Record<string, string>): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const [name, value] of Object.entries(asked)) {
    if (IGNORED_SETTINGS.has(name) || Object.hasOwn(LIMITS, name)) continue;
    if (!HARMLESS_SETTING.test(name)) throw refusal(`Cannot modify '${name}' setting in readonly mode.`);
    settings[name] = value;
  }
  for (const [name, most] of Object.entries(LIMITS)) {
    const value = Number(asked[name] ?? most);
    settings[name] = String(value > 0 && value < most ? value : most);
  }
  return settings;
}

/** Strings, quoted identifiers, names before a bracket, other words: of a statement as the engine prints it. */
const TOKEN = /'(?:[^'\\]|\\[^])*'|`(?<quoted>(?:[^`\\]|\\[^])*)`(?<call>\()?|(?<called>[A-Za-z_]\w*)\(|(?<word>\w+)/g;

/**
 * @param printed the statement as the engine prints it after parsing, without comments and with one way to quote
 * @throws Error when it does more than read this server's tables
 */
export function checkReadsOnly(printed: string): void {
  const first = /^\(*(\w*)/.exec(printed)?.[1] ?? '';
  if (!READING_WORDS.has(first)) throw refusal(`Cannot execute query in readonly mode: it begins with ${first}.`);
  for (const { groups = {} } of printed.matchAll(TOKEN)) {
    const { quoted, call, called, word } = groups;
    if (word?.toUpperCase() === 'OUTFILE') throw refusal('Cannot write files in readonly mode (INTO OUTFILE).');
    // Some take effect in readonly mode too: DEFAULT lifts every limit.
    if (word === 'SETTINGS') throw refusal('Cannot use SETTINGS in readonly mode; settings may stand in the URL.');
    const name = called ?? (call === undefined ? undefined : quoted);
    if (name !== undefined && FORBIDDEN_FUNCTIONS.has(name.toLowerCase())) {
      throw refusal(`Cannot use the function ${name} in readonly mode.`);
    }
    // The embedded engine takes the name of an unknown table for a file's.
    if (quoted?.includes('/') === true) throw refusal('Names must not contain a slash in readonly mode.');
  }
}

/** The engine's own limit counts a value that all rows share once. @throws Error when the answer is too large */
export function checkAnswer(bytes: number): void {
  if (bytes <= MOST_ANSWER_BYTES) return;
  throw new Error(
    `Code: 396. DB::Exception: Limit for result exceeded, max bytes: ${MOST_ANSWER_BYTES}, current bytes: ${bytes}. (TOO_MANY_ROWS_OR_BYTES)`,
  );
}

function refusal(message: string): Error {
  return new Error(`Code: 164. DB::Exception: ${message} (READONLY)`);
}
