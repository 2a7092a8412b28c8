import { checkOutputFormat } from './allowed-formats.ts';
import { checkWriterSetting } from './allowed-settings.ts';
import { refusal } from './faults.ts';
import { FORBIDDEN_FUNCTIONS, FORMAT_FUNCTION } from './functions.ts';

/**
 * The rules for statements of readers and writers. They apply to statements as the engine prints them after parsing:
 * without comments, with one style of quotes, and with keywords in capitals.
 */

const READING_WORDS = new Set(['SELECT', 'WITH', 'SHOW', 'DESCRIBE', 'EXPLAIN', 'EXISTS']);

/** The writing statements that the services, their migrations and their tests need. */
const WRITING =
  /^(?:INSERT INTO (?!(?:TABLE )?FUNCTION\b)|CREATE (?:OR REPLACE )?(?:TEMPORARY )?(?:TABLE|(?:MATERIALIZED )?VIEW|DATABASE)\b|DROP (?:TABLE|VIEW|DATABASE)\b|ALTER TABLE\b|TRUNCATE TABLE\b|OPTIMIZE TABLE\b|DELETE FROM\b|SET \w|SYSTEM (?:START|STOP) MERGES\b)/;

/** Words of clauses that read or write files of the machine, or move table parts elsewhere. */
const FILE_WORDS = new Set(['OUTFILE', 'INFILE']);
const WRITERS_FORBIDDEN_WORDS = new Set(
  'FREEZE UNFREEZE FETCH ATTACH DETACH MOVE EXPORT BACKUP RESTORE DISK VOLUME CLONE PARALLEL'.split(' '),
);

const ENGINES = new Set(['MergeTree', 'ReplacingMergeTree', 'Memory', 'Null', 'Atomic']);

/** Matches strings, parameters, quoted identifiers, names before a parenthesis, and other words. */
const TOKEN =
  /'(?:[^'\\]|\\[^])*'|\{(?<parameter>\w+):(?<type>\w+)|`(?<quoted>(?:[^`\\]|\\[^])*)`(?<call>\()?|\b(?<called>[A-Za-z_]\w*)\(|(?<word>\w+)/g;

interface Token {
  parameter?: string | undefined;
  type?: string | undefined;
  /** A quoted identifier. */
  quoted?: string | undefined;
  call?: string | undefined;
  /** A name before a parenthesis. */
  called?: string | undefined;
  word?: string | undefined;
  /** The index after the token. */
  end: number;
}

export interface JudgedStatement {
  /** The statement as the engine prints it. */
  printed: string;
  /** The settings, including the values of parameters as param_NAME. */
  settings: Record<string, string>;
}

/** @throws Error when the statement does more than read tables of this server */
export function checkReadsOnly(statement: JudgedStatement): void {
  const { printed } = statement;
  const first = /^\(*(\w*)/.exec(printed)?.[1] ?? '';
  if (!READING_WORDS.has(first)) throw refusal(`Cannot execute query in readonly mode: it begins with ${first}.`);
  for (const token of tokensOf(printed)) {
    checkToken(token, statement);
    // SETTINGS takes effect in readonly mode too: the value DEFAULT lifts every limit.
    if (token.word === 'SETTINGS') {
      throw refusal('Cannot use SETTINGS in readonly mode; put settings in the URL.');
    }
  }
}

/** @throws Error when the statement does something that no service needs, such as accessing files or other servers */
export function checkWrites(statement: JudgedStatement): void {
  const { printed } = statement;
  const first = /^\(*(\w*)/.exec(printed)?.[1] ?? '';
  if (!READING_WORDS.has(first) && !WRITING.test(printed)) {
    throw refusal(`Cannot execute this statement here: ${printed.slice(0, 40)}`);
  }
  for (const token of tokensOf(printed)) {
    checkToken(token, statement);
    if (token.word !== undefined && WRITERS_FORBIDDEN_WORDS.has(token.word)) {
      throw refusal(`Cannot use ${token.word} here.`);
    }
    if (token.word === 'ENGINE') checkEngine(printed.slice(token.end));
    if (token.word === 'SETTINGS' || token.word === 'SETTING') checkSettings(printed.slice(token.end));
  }
  if (first === 'SET') checkSettings(printed.slice('SET'.length));
}

function* tokensOf(printed: string): Generator<Token> {
  for (const match of printed.matchAll(TOKEN)) yield { ...match.groups, end: match.index + match[0].length };
}

function checkToken(token: Token, { printed, settings }: JudgedStatement): void {
  const { quoted, call, called, word, parameter, type } = token;
  const rest = () => printed.slice(token.end, token.end + 1_000);
  if (word !== undefined && FILE_WORDS.has(word.toUpperCase())) throw refusal(`Cannot use files here (${word}).`);
  if (word === 'FORMAT') checkFormatClause(rest());
  if (word === 'INSERT' && token.end > word.length && /^\s+INTO\b/.test(rest())) {
    // The engine treats the text after the inner statement as rows, and runs the text after a blank line in them, even
    // within an EXPLAIN.
    throw refusal('INSERT cannot be part of another statement here.');
  }
  const name = called ?? (call === undefined ? undefined : quoted);
  if (name !== undefined) checkFunction(name, rest());
  if (quoted !== undefined) checkName(quoted);
  if (parameter !== undefined && type?.toLowerCase() === 'identifier') checkIdentifier(settings[`param_${parameter}`]);
}

function checkFunction(name: string, argument: string): void {
  const lower = name.toLowerCase();
  // With a pattern it is the scalar function, because the name of a format has no brace.
  const isForbidden =
    FORBIDDEN_FUNCTIONS.has(lower) || (lower === FORMAT_FUNCTION && !/^'(?:[^'\\]|\\[^])*\{/.test(argument));
  if (isForbidden) throw refusal(`Cannot use the function ${name} here.`);
}

/** The embedded engine looks up the name of an unknown table as a file. */
function checkName(name: string): void {
  if (name.includes('/')) throw refusal('Names must not contain a slash here.');
}

/**
 * The value of a parameter for a name is checked like a name in the statement, with a stricter pattern. The engine
 * itself refuses a missing value.
 */
function checkIdentifier(value: string | undefined): void {
  if (value !== undefined && !/^[A-Za-z_]\w*$/.test(value)) {
    throw refusal('The value of an Identifier parameter must consist of letters, digits and underscores.');
  }
}

function checkFormatClause(rest: string): void {
  const name = /^\s+`?(\w+)`?/.exec(rest)?.[1];
  // Without a following name, FORMAT is the name of a column.
  if (name !== undefined) checkOutputFormat(name);
}

function checkEngine(rest: string): void {
  const name = /^\s*=\s*`?(\w+)`?/.exec(rest)?.[1];
  if (name === undefined || !ENGINES.has(name)) throw refusal(`Cannot use the engine ${name ?? ''} here.`);
}

const SETTING = /\s*([\w.]+)\s*=\s*(?:'(?:[^'\\]|\\[^])*'|-?[\w.]+)\s*(,)?/y;

/** Checks `name = value, name = value`. Values must be literals, because a function as a value can name a disk. */
function checkSettings(rest: string): void {
  SETTING.lastIndex = 0;
  for (;;) {
    const [whole, name, comma] = SETTING.exec(rest) ?? [];
    if (whole === undefined || name === undefined) throw refusal('Cannot use these settings here.');
    checkWriterSetting(name);
    if (comma !== undefined) continue;
    if (!/^(?:\)|[A-Z]|$)/.test(rest.slice(SETTING.lastIndex))) throw refusal('Cannot use these settings here.');
    return;
  }
}
