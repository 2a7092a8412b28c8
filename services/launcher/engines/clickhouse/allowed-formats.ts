import { refusal } from './faults.ts';

/**
 * The allowed formats of results. Excluded are formats that write or read a schema file (Protobuf, CapnProto,
 * Template), query a schema registry (Avro), or are another server's protocol.
 */
const OUTPUT_FORMATS = new Set(
  `Arrow ArrowStream CSV CSVWithNames CSVWithNamesAndTypes JSON JSONColumns JSONColumnsWithMetadata JSONCompact JSONCompactColumns
   JSONCompactEachRow JSONCompactEachRowWithNames JSONCompactEachRowWithNamesAndTypes JSONCompactEachRowWithProgress JSONCompactStrings
   JSONCompactStringsEachRow JSONCompactStringsEachRowWithNames JSONCompactStringsEachRowWithNamesAndTypes
   JSONCompactStringsEachRowWithProgress JSONEachRow JSONEachRowWithProgress JSONL JSONLines JSONObjectEachRow JSONStrings
   JSONStringsEachRow JSONStringsEachRowWithProgress LineAsString LineAsStringWithNames LineAsStringWithNamesAndTypes Markdown MD MsgPack
   Native NDJSON Null ORC Parquet Pretty PrettyCompact PrettyCompactMonoBlock PrettyCompactNoEscapes PrettyCompactNoEscapesMonoBlock
   PrettyJSONEachRow PrettyJSONLines PrettyMonoBlock PrettyNDJSON PrettyNoEscapes PrettyNoEscapesMonoBlock PrettySpace
   PrettySpaceMonoBlock PrettySpaceNoEscapes PrettySpaceNoEscapesMonoBlock Raw RawBLOB RawWithNames RawWithNamesAndTypes RowBinary
   RowBinaryWithNames RowBinaryWithNamesAndTypes SQLInsert TabSeparated TabSeparatedRaw TabSeparatedRawWithNames
   TabSeparatedRawWithNamesAndTypes TabSeparatedWithNames TabSeparatedWithNamesAndTypes TSKV TSV TSVRaw TSVRawWithNames
   TSVRawWithNamesAndTypes TSVWithNames TSVWithNamesAndTypes Values Vertical XML`
    .toLowerCase()
    .split(/\s+/),
);

/**
 * The allowed formats of inserted rows. In other formats the engine treats a blank line in the data as the end of the
 * data, and after values a semicolon, and runs the rest as a statement.
 */
const ROW_FORMATS = new Set(['jsoneachrow', 'jsoncompacteachrow', 'jsonlines', 'jsonl', 'ndjson']);

/** @throws Error for a result format that is not allowed */
export function checkOutputFormat(name: string): void {
  if (!OUTPUT_FORMATS.has(name.toLowerCase())) throw refusal(`Cannot use the format ${name} here.`);
}

/**
 * @param format the format of an INSERT
 * @param data what follows it
 * @throws Error when the format is neither JSON lines nor literal values, or when the engine could run a part of the
 * data as a statement
 */
export function checkInsertedData(format: string, data: string): void {
  const name = format.toLowerCase();
  if (ROW_FORMATS.has(name)) checkJsonLines(data);
  else if (name === 'values') checkValues(data);
  else throw refusal(`Cannot insert ${format} here: JSONEachRow, JSONCompactEachRow and Values are accepted.`);
}

function checkJsonLines(data: string): void {
  const end = data.trimEnd().length;
  let from = data.length - data.trimStart().length;
  while (from < end) {
    const newline = data.indexOf('\n', from);
    const line = data.slice(from, Math.min(from + 100, newline < 0 ? end : newline)).trimStart();
    if (line[0] !== '{' && line[0] !== '[') throw refusal('Every line of the inserted rows must begin with a bracket.');
    if (newline < 0) return;
    from = newline + 1;
  }
}

const STRING_OR_WORD = /'(?:[^'\\]|\\[^]|'')*'|\b(?:null|true|false|default)\b/gi;

function checkValues(data: string): void {
  if (/\n[^\S\n]*\n/.test(data.trim())) throw refusal('Inserted values must not contain blank lines.');
  const rest = data.replace(STRING_OR_WORD, '').trimEnd().replace(/;$/, '');
  if (/[^\deE\s()[\],.+-]/.test(rest)) throw refusal('Inserted values must be literals.');
}
