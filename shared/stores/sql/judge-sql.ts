import { argumentFault } from './judge-arguments.ts';
import { isAllowedFunction } from './sql-functions.ts';
import { isAllowedType } from './sql-types.ts';

/** Why a statement is refused, as a sentence for its author. */
export class SqlRefused extends Error {
  override name = 'SqlRefused';
}

/** The tables of a customer. */
export const SQL_TABLES: readonly string[] = ['matches', 'deliveries', 'monitors'];

/** String literals, quoted names, and everything else one by one, in the form that the engine prints. */
const PIECE = /'(?:[^'\\]|\\[^])*'|`(?:[^`\\]|\\[^])*`|"(?:[^"\\]|\\[^])*"|[^]/g;
const QUOTED_NAME = /^`[A-Za-z_][A-Za-z0-9_ ]*`$/;
/** Clauses that are no part of a SELECT of rows; the engine prints keywords in capitals. */
const CLAUSE = /\b(?:SETTINGS|FORMAT|INTO|OUTFILE|INFILE|INSERT|COMPRESSION|PARALLEL|WITH FILL|INTERPOLATE|SAMPLE)\b/;
const COMMON_TABLE = /(?:\b([A-Za-z_]\w{0,63})|`([^`]{1,64})`)\s+AS\s*\(\s*(?:SELECT|WITH)\b/g;

/**
 * Checks a statement in the form that the engine prints after parsing: without comments, with one style of quotes, with
 * keywords in capitals.
 *
 * @returns the names of its common table expressions
 * @throws SqlRefused
 */
export function judgePrinted(printed: string): Set<string> {
  if (!/^[(\s]*(?:SELECT|WITH)\b/.test(printed)) throw new SqlRefused('must be one SELECT statement');
  let rest = '';
  for (const [piece] of printed.matchAll(PIECE)) {
    const isString = piece.startsWith("'");
    if (piece.startsWith('`') && piece.length > 1 && !QUOTED_NAME.test(piece)) {
      throw new SqlRefused('names consist of letters, digits, underscores and spaces');
    }
    if (piece === '"' || piece.startsWith('"') || piece === '`') throw new SqlRefused('has an unknown quote');
    rest += isString ? "''" : piece;
  }
  const clause = CLAUSE.exec(rest.replace(/`[^`]*`/g, 'name'))?.[0];
  if (clause !== undefined) throw new SqlRefused(`must not use ${clause}`);
  if (rest.includes('{')) throw new SqlRefused('must not have parameters');
  if (rest.includes(';')) throw new SqlRefused('must be one SELECT statement');
  return new Set([...rest.matchAll(COMMON_TABLE)].map(([, name, quoted]) => name ?? quoted ?? ''));
}

/** A line of EXPLAIN AST: its depth is the number of spaces before it. */
interface Node {
  depth: number;
  kind: string;
  /** What follows the kind, without the alias and the number of children. */
  name: string;
  children: Node[];
  parent: Node | undefined;
}

/** The parts of a tree that a statement may consist of, and nothing else. */
const KINDS = new Set(
  `SelectWithUnionQuery SelectQuery SelectIntersectExceptQuery ExpressionList Identifier Literal Function Asterisk
   QualifiedAsterisk ColumnsTransformerList ColumnsExceptTransformer TablesInSelectQuery TablesInSelectQueryElement
   TableExpression TableIdentifier TableJoin ArrayJoin OrderByElement Subquery WithElement WindowListElement
   WindowDefinition`.split(/\s+/),
);
const MEMBERSHIP = new Set(['in', 'notin', 'nullin', 'notnullin', 'globalin', 'globalnotin']);

export interface JudgedSql {
  /** Whether it may read columns of the items, which have to be joined. */
  readsContent: boolean;
}

/**
 * Checks the tree of a statement, as EXPLAIN AST prints it: only listed kinds of nodes and listed functions, only the
 * customer's tables and the statement's own common tables, no table functions.
 *
 * @param commonTables as `judgePrinted` returns them
 * @param contentColumns in lower case
 * @throws SqlRefused
 */
export function judgeTree(
  tree: string,
  commonTables: ReadonlySet<string>,
  contentColumns: ReadonlySet<string>,
): JudgedSql {
  let readsContent = false;
  for (const node of nodesOf(tree)) {
    const { kind, name, parent } = node;
    if (!KINDS.has(kind)) throw new SqlRefused(`must not use ${describe(node)}`);
    if (kind === 'SelectWithUnionQuery' && node.children.length !== 1) throw new SqlRefused('must only select rows');
    if (kind === 'Function') judgeFunction(node);
    if (kind === 'TableIdentifier') judgeTable(name, commonTables);
    if (kind === 'Identifier' && parent !== undefined) {
      if (isMembership(parent.parent) && parent.children.indexOf(node) === 1) {
        throw new SqlRefused(`must list the values of IN or select them, but IN names ${name}`);
      }
      readsContent ||= contentColumns.has(name.toLowerCase().split('.').at(-1) ?? '');
    }
    readsContent ||= kind === 'Asterisk' || kind === 'QualifiedAsterisk';
  }
  return { readsContent };
}

function judgeFunction({ name, parent, children }: Node): void {
  if (parent?.kind === 'TableExpression') throw new SqlRefused(`must not use the table function ${name}`);
  if (!isAllowedFunction(name)) throw new SqlRefused(`must not use the function ${name}`);
  const lower = name.toLowerCase();
  const args = children[0]?.children ?? [];
  const fault = argumentFault(lower, args);
  if (fault !== undefined) throw new SqlRefused(fault);
  if (CASTS.has(lower)) judgeType(args[1]);
}

/** Functions whose second argument is a type. */
const CASTS = new Set(['cast', '_cast', 'accuratecastornull']);

/** The type must be written out: what an expression names is known only to the engine. */
function judgeType(type: Node | undefined): void {
  if (type?.kind !== 'Literal') throw new SqlRefused('must name the type of a CAST');
  if (!isAllowedType(type.name)) throw new SqlRefused(`must not use the type ${type.name}`);
}

/** What the engine reads for a SELECT without FROM: one row with nothing in it. */
const NO_TABLE = 'system.one';

function judgeTable(name: string, commonTables: ReadonlySet<string>): void {
  if (SQL_TABLES.includes(name) || commonTables.has(name) || name === NO_TABLE) return;
  throw new SqlRefused(`must not read ${name}: the tables are ${SQL_TABLES.join(', ')}`);
}

function isMembership(node: Node | undefined): boolean {
  return node?.kind === 'Function' && MEMBERSHIP.has(node.name.toLowerCase());
}

const describe = ({ kind, name }: Node): string =>
  kind === 'Set' ? 'SETTINGS' : kind === 'QueryParameter' ? 'parameters' : `${kind} ${name}`.trim();

const LINE = /^( *)([A-Za-z]+)(?: (.*?))?(?: \(alias [^)]*\))?(?: \(children \d+\))?$/;

/** All nodes of the tree, in the order of the text. @throws SqlRefused for a line that is no node */
function nodesOf(tree: string): Node[] {
  const nodes: Node[] = [];
  const path: Node[] = [];
  for (const line of tree.split('\n')) {
    if (line.trim() === '') continue;
    const [, spaces = '', kind = '', name = ''] = LINE.exec(line) ?? [];
    if (kind === '') throw new SqlRefused('cannot be understood');
    const depth = spaces.length;
    const parent = path[depth - 1];
    const node: Node = { depth, kind, name, children: [], parent };
    parent?.children.push(node);
    path.length = depth;
    path[depth] = node;
    nodes.push(node);
  }
  if (nodes.length === 0) throw new SqlRefused('cannot be understood');
  return nodes;
}
