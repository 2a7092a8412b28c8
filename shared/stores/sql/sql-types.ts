/**
 * The types that a customer's statement may convert to, in lower case, with the names that other dialects give them.
 * All hold plain values. The state of an aggregate function, for example, would be read from bytes that the author
 * chose, by code that trusts them.
 */
const TYPES = new Set(
  `string fixedstring text varchar char bool boolean
   uint8 uint16 uint32 uint64 uint128 uint256 int8 int16 int32 int64 int128 int256 int integer tinyint smallint bigint
   signed unsigned float float32 float64 double precision real decimal decimal32 decimal64 decimal128 decimal256 numeric
   date date32 datetime datetime64 timestamp enum enum8 enum16 uuid ipv4 ipv6
   array tuple map nullable nothing lowcardinality null not intervalnanosecond intervalmicrosecond intervalmillisecond
   intervalsecond intervalminute intervalhour intervalday intervalweek intervalmonth intervalquarter intervalyear`.split(
    /\s+/,
  ),
);

/** The values of enumerations and names of time zones, as EXPLAIN AST prints them inside a literal. */
const QUOTED = /\\'(?:[^\\]|\\\\.)*?\\'/gs;

/** Whether a statement may name the type. @param literal as EXPLAIN AST prints it, in quotes */
export function isAllowedType(literal: string): boolean {
  const names =
    literal
      .replace(/^'|'$/g, '')
      .replace(QUOTED, '')
      .match(/[^\s(),=\d-][^\s(),=]*/g) ?? [];
  return names.length > 0 && names.every((name) => TYPES.has(name.toLowerCase()));
}
