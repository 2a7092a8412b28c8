import { checkOutputFormat } from './allowed-formats.ts';
import { checkWriterSetting } from './allowed-settings.ts';
import { refusal } from './faults.ts';
import { FORBIDDEN_FUNCTIONS, FORMAT_FUNCTION } from './functions.ts';

/**
 * What readers and writers may say. Statements are judged as the engine prints them after parsing: without comments,
 * with one way to quote, keywords in capitals.
 */

const READING_WORDS = new Set(['SELECT', 'WITH', 'SHOW', 'DESCRIBE', 'EXPLAIN', 'EXISTS']);

/** What the services, their migrations and their tests do besides reading. */
const WRITING =
  /^(?:INSERT INTO (?!(?:TABLE )?FUNCTION\b)|CREATE (?:OR REPLACE )?(?:TEMPORARY )?(?:TABLE|VIEW|DATABASE)\b|DROP (?:TABLE|VIEW|DATABASE)\b|ALTER TABLE\b|TRUNCATE TABLE\b|OPTIMIZE TABLE\b|DELETE FROM\b|SET \w|SYSTEM (?:START|STOP) MERGES\b)/;

/** Parts of statements that write or read files of the machine, or move parts to where we did not put them. */
const FILE_WORDS = new Set(['OUTFILE', 'INFILE']);
const WRITERS_FORBIDDEN_WORDS = new Set(
  'FREEZE UNFREEZE FETCH ATTACH DETACH MOVE EXPORT BACKUP RESTORE DISK VOLUME CLONE PARALLEL'.split(' '),
);

const ENGINES = new Set(['MergeTree', 'ReplacingMergeTree', 'Memory', 'Null', 'Atomic']);

/** Strings, parameters, quoted identifiers, names before a bracket, other words. */
const TOKEN =
  /'(?:[^'\\]|\\[^])*'|\{(?<parameter>\w+):(?<type>\w+)|`(?<quoted>(?:[^`\\]|\\[^])*)`(?<call>\()?|\b(?<called>[A-Za-z_]\w*)\(|(?<word>\w+)/g;

interface Token {
  parameter?: string | undefined;
  type?: string | undefined;
  /** A quoted identifier. */
  quoted?: string | undefined;
  call?: string | undefined;
  /** A name before a bracket. */
  called?: string | undefined;
  word?: string | undefined;
  /** What follows the token. */
  end: number;
}

export interface JudgedStatement {
  /** The statement as the engine prints it. */
  printed: string;
  /** Among others the values of parameters, as param_NAME. */
  settings: Record<string, string>;
}

/** @throws Error when it does more than read this server's tables */
export function checkReadsOnly(statement: JudgedStatement): void {
  const { printed } = statement;
  const first = /^\(*(\w*)/.exec(printed)?.[1] ?? '';
  if (!READING_WORDS.has(first)) throw refusal(`Cannot execute query in readonly mode: it begins with ${first}.`);
  for (const token of tokensOf(printed)) {
    checkToken(token, statement);
    // Some take effect in readonly mode too: DEFAULT lifts every limit.
    if (token.word === 'SETTINGS') {
      throw refusal('Cannot use SETTINGS in readonly mode; settings may stand in the URL.');
    }
  }
}

/** @throws Error when it does what no service needs, such as reaching files or other servers */
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
    // The engine takes what follows the inner statement for rows, and what follows a blank line in them for a
    // statement, also to EXPLAIN it.
    throw refusal('INSERT cannot be a part of another statement here.');
  }
  const name = called ?? (call === undefined ? undefined : quoted);
  if (name !== undefined) checkFunction(name, rest());
  if (quoted !== undefined) checkName(quoted);
  if (parameter !== undefined && type?.toLowerCase() === 'identifier') checkIdentifier(settings[`param_${parameter}`]);
}

function checkFunction(name: string, argument: string): void {
  const lower = name.toLowerCase();
  // With a pattern it is the scalar function; no format's name has a brace.
  const isForbidden =
    FORBIDDEN_FUNCTIONS.has(lower) || (lower === FORMAT_FUNCTION && !/^'(?:[^'\\]|\\[^])*\{/.test(argument));
  if (isForbidden) throw refusal(`Cannot use the function ${name} here.`);
}

/** The embedded engine takes the name of an unknown table for a file's. */
function checkName(name: string): void {
  if (name.includes('/')) throw refusal('Names must not contain a slash here.');
}

/**
 * A parameter for a name is judged like a name in the statement, and is simpler than one: the engine refuses a missing
 * one itself.
 */
function checkIdentifier(value: string | undefined): void {
  if (value !== undefined && !/^[A-Za-z_]\w*$/.test(value)) {
    throw refusal('The value of an Identifier parameter must consist of letters, digits and underscores.');
  }
}

function checkFormatClause(rest: string): void {
  const name = /^\s+`?(\w+)`?/.exec(rest)?.[1];
  // Without a name it is a column of that name.
  if (name !== undefined) checkOutputFormat(name);
}

function checkEngine(rest: string): void {
  const name = /^\s*=\s*`?(\w+)`?/.exec(rest)?.[1];
  if (name === undefined || !ENGINES.has(name)) throw refusal(`Cannot use the engine ${name ?? ''} here.`);
}

const SETTING = /\s*([\w.]+)\s*=\s*(?:'(?:[^'\\]|\\[^])*'|-?[\w.]+)\s*(,)?/y;

/** `name = value, name = value`, values being literals: a function as a value may name a disk. */
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
