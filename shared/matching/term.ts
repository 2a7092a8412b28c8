import { fold } from './fold.ts';
import type { Unit } from './units.ts';
import { splitUnits } from './units.ts';

export const SPACE = ' ';
export const HYPHEN = '-';

/** A keyword or excluded term in the form that is searched for. */
export interface Term {
  /** The units that must follow each other in the text. Equal keys mean equal terms. */
  readonly keys: readonly string[];
  /** Where among them the text must have the very hyphen or space. A space that is not named here may be a hyphen, too. */
  readonly fixedGaps: readonly number[];
  /** Begins with a symbol that a word character or the same symbol before it makes another one (.NET in ASP.NET). */
  readonly guardsStart: boolean;
  /** Ends with a symbol that the same symbol behind it makes another one (C# in C##). */
  readonly guardsEnd: boolean;
  /** Ends with a word of one letter, which + or # behind it makes another name (C in C++). */
  readonly endsInLetter: boolean;
}

/** Quotes and underscores mark a keyword up, they are not part of it. The ’ of a quotation has become ' by folding. */
const AROUND = /^[ _"'‘“”„«»「」]+|[ _"'‘“”„«»「」]+$/g;
const EMOJI = /^[\p{Extended_Pictographic}\p{Regional_Indicator}]$/u;
const LETTER = /^\p{L}\p{M}*$/u;

function isGuarded(edge: Unit): boolean {
  return edge.kind === 'symbol' && !EMOJI.test(edge.key);
}

/** Undefined when nothing is left to search for: only spaces, quotes, underscores or invisible characters. */
export function compileTerm(text: string): Term | undefined {
  const units = splitUnits(fold(text).replace(AROUND, ''));
  const first = units[0];
  const last = units.at(-1);
  if (first === undefined || last === undefined) return undefined;

  const hasWord = units.some((unit) => unit.kind === 'word');
  const hasSpaceless = units.some((unit) => unit.kind === 'spaceless');
  const isSymbolic = !hasWord && !hasSpaceless;
  const isPhrase = hasWord && !hasSpaceless;
  const isFixed = ({ key }: Unit): boolean => key === HYPHEN || (key === SPACE && !isPhrase);
  return {
    keys: units.map(({ key }) => key),
    fixedGaps: units.flatMap((unit, position) => (isFixed(unit) ? [position] : [])),
    guardsStart: !isSymbolic && isGuarded(first),
    guardsEnd: !isSymbolic && isGuarded(last),
    endsInLetter: last.kind === 'word' && LETTER.test(last.key),
  };
}
