import type { z } from 'zod';
import { errorMessage } from '../runtime/errors.ts';
import type { ConsumedRecord, PoisonRecord } from './consumed-batch.ts';

/** A handler cannot continue because of one record: it becomes a dead letter, and the handler is called without it. */
export class PoisonMessage extends Error {
  override name = 'PoisonMessage';
  readonly poison: PoisonRecord;

  constructor(poison: PoisonRecord) {
    super(`${poison.step}: ${poison.reason}`);
    this.poison = poison;
  }
}

/** Records whose value was parsed. `poison` holds the others, to be returned in the handler's outcome. */
export interface ParsedRecords<T> {
  parsed: { record: ConsumedRecord; value: T }[];
  poison: PoisonRecord[];
}

export function parseRecords<S extends z.ZodType>(
  schema: S,
  batch: { records: readonly ConsumedRecord[] },
): ParsedRecords<z.output<S>> {
  const result: ParsedRecords<z.output<S>> = { parsed: [], poison: [] };
  for (const record of batch.records) {
    const read = parseRecord(schema, record);
    if ('value' in read) result.parsed.push({ record, value: read.value });
    else result.poison.push(read);
  }
  return result;
}

/** The same for one record: its value, or why it is poison. */
export function parseRecord<S extends z.ZodType>(
  schema: S,
  record: ConsumedRecord,
): { value: z.output<S> } | PoisonRecord {
  const read = readJson(record.value);
  if ('fault' in read) return { record, step: 'parse', reason: read.fault };
  const checked = schema.safeParse(read.json);
  return checked.success ? { value: checked.data } : { record, step: 'schema', reason: describe(checked.error) };
}

function readJson(value: Buffer): { json: unknown } | { fault: string } {
  try {
    return { json: JSON.parse(value.toString()) };
  } catch (error) {
    return { fault: errorMessage(error) };
  }
}

function describe(error: z.ZodError): string {
  return error.issues.map(({ path, message }) => `${path.join('.') || 'value'}: ${message}`).join('; ');
}
