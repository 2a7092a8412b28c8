/** The polynomial of Castagnoli, its bits in reverse. */
const POLYNOMIAL = 0x82f63b78;
/** How many bytes one step takes, each with a table of its own. */
const STEP = 8;

/** Table k holds, for each byte, its share of the checksum when k more bytes follow it in the same step. */
const TABLES = buildTables();
const [T0, T1, T2, T3, T4, T5, T6, T7] = Array.from({ length: STEP }, (_, k) =>
  TABLES.subarray(256 * k, 256 * k + 256),
);

function buildTables(): Int32Array {
  const tables = new Int32Array(256 * STEP);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    tables[byte] = crc;
  }
  for (let at = 256; at < tables.length; at++) {
    const before = tables[at - 256]!;
    tables[at] = (before >>> 8) ^ tables[before & 0xff]!;
  }
  return tables;
}

/** CRC-32C of bytes[from, to), unsigned: the checksum of Kafka's record batches. Node's zlib has another polynomial. */
export function crc32c(bytes: Uint8Array, from: number, to: number): number {
  let crc = -1;
  let at = from;
  for (const end = to - STEP; at <= end; at += STEP) {
    crc ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    crc =
      T7![crc & 0xff]! ^
      T6![(crc >>> 8) & 0xff]! ^
      T5![(crc >>> 16) & 0xff]! ^
      T4![crc >>> 24]! ^
      T3![bytes[at + 4]!]! ^
      T2![bytes[at + 5]!]! ^
      T1![bytes[at + 6]!]! ^
      T0![bytes[at + 7]!]!;
  }
  for (; at < to; at++) crc = T0![(crc ^ bytes[at]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}
