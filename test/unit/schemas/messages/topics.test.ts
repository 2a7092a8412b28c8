import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TOPICS } from '../../../../schemas/messages/topics.ts';

const EXAMPLES = join(import.meta.dirname, '../../../../schemas/examples');

function examplesOf(topic: string): { file: string; message: unknown }[] {
  return readdirSync(EXAMPLES)
    .filter((file) => file.startsWith(`${topic}.v`))
    .map((file) => ({ file, message: JSON.parse(readFileSync(join(EXAMPLES, file), 'utf8')) as unknown }));
}

describe.each(TOPICS)('$name', ({ name, schema, version }) => {
  test.each(examplesOf(name))('$file is still readable, nothing lost', ({ message }) => {
    expect(schema.parse(message)).toEqual(message);
  });

  test('the version that producers write has an example', () => {
    expect(examplesOf(name).filter(({ file }) => file.startsWith(`${name}.v${version}-`)).length).toBeGreaterThan(0);
  });

  test.each(examplesOf(name))('$file without one of its fields is refused', ({ message }) => {
    // What an older example lacks was added later, so messages without it are still about.
    const isRequired = (field: string): boolean =>
      examplesOf(name).every((example) => field in (example.message as object));
    for (const field of Object.keys(message as object).filter(isRequired)) {
      const { [field]: _, ...rest } = message as Record<string, unknown>;
      expect(schema.safeParse(rest).success, field).toBe(false);
    }
  });
});
