/** An argument of a function, as EXPLAIN AST prints it. */
export interface SqlArgument {
  kind: string;
  name: string;
  children: readonly SqlArgument[];
}

/**
 * The engine cannot be interrupted inside one call of a function, and some take the product of the sizes of their
 * arguments: a long constant text is searched for each of a million needles. So what these functions look for is
 * written out in the statement. The number is the argument's, from 0.
 */
const WRITTEN_OUT: ReadonlyMap<string, number> = new Map([
  ...at(
    1,
    `like notlike ilike notilike match extract position positioncaseinsensitive positionutf8
     positioncaseinsensitiveutf8 countsubstrings countsubstringscaseinsensitive countsubstringscaseinsensitiveutf8
     replaceone replaceall replaceregexpone replaceregexpall hastoken hastokencaseinsensitive`,
  ),
  ...at(0, 'splitbychar splitbystring'),
]);

/** Of these, one of the arguments. */
const ONE_WRITTEN_OUT = names('has hasall hasany hassubstr indexof arrayintersect');

/** Functions whose second argument is a pattern. A pattern with wildcards becomes a regular expression. */
const PATTERNS = names('like notlike ilike notilike match extract replaceregexpone replaceregexpall');
const LONGEST_PATTERN = 200;
/** A pattern costs about its length times its counted repetitions for each character that it looks at. */
const HEAVIEST_PATTERN = 1_000;
const COUNTED = /\{(\d+)(?:,(\d*))?\}/g;

/** Why a function must not be called with these arguments; undefined when it may. @param name in lower case */
export function argumentFault(name: string, args: readonly SqlArgument[]): string | undefined {
  const index = WRITTEN_OUT.get(name);
  const argument = index === undefined ? undefined : args[index];
  if (argument !== undefined && !isText(argument)) return `must write out what ${name} looks for`;
  if (ONE_WRITTEN_OUT.has(name) && args.length > 0 && !args.some(isWrittenOut)) {
    return `must write out one of the arguments of ${name}`;
  }
  if (PATTERNS.has(name) && argument !== undefined && isHeavy(argument.name)) {
    return `must not use so long a pattern, or one with so many counted repetitions, with ${name}`;
  }
  return undefined;
}

const isText = ({ kind }: SqlArgument): boolean => kind === 'Literal';

/** The engine prints a list as a function of its values, or as a conversion of a literal. */
function isWrittenOut(argument: SqlArgument): boolean {
  if (argument.kind !== 'Function') return argument.kind === 'Literal';
  const values = argument.children[0]?.children ?? [];
  const isList = argument.name === 'array' || argument.name === '_CAST';
  return isList && values.every(isWrittenOut);
}

function isHeavy(pattern: string): boolean {
  if (pattern.length > LONGEST_PATTERN) return true;
  let weight = pattern.length;
  for (const [, least, most] of pattern.matchAll(COUNTED)) weight *= Math.max(1, Number(least), Number(most ?? 0));
  return weight > HEAVIEST_PATTERN;
}

function names(list: string): Set<string> {
  return new Set(list.trim().split(/\s+/));
}

function at(index: number, list: string): [string, number][] {
  return [...names(list)].map((name) => [name, index]);
}
