/** Reads CSV by the grammar of RFC 4180. @throws Error for text that is not by it */
export function csvRecords(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  const pattern = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  while (pattern.lastIndex < text.length) {
    const found = pattern.exec(text);
    if (found === null) throw new Error('the text is not CSV');
    record.push(found[1] === undefined ? found[2]! : found[1].replaceAll('""', '"'));
    if (found[3] === ',') continue;
    records.push(record);
    record = [];
  }
  if (record.length > 0) throw new Error('the last record has no end');
  return records;
}
