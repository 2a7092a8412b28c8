/** Longer values are cut; the routes refuse what they find too long below that. */
const MAX_LENGTH = 100_000;

/** The fields of a form or a query: text, once or several times. Other values are ignored. */
export class FormFields {
  private readonly values: ReadonlyMap<string, readonly string[]>;

  /** @param given as Express parses it: names with a text or a list of texts */
  constructor(given: unknown) {
    const entries = typeof given === 'object' && given !== null ? Object.entries(given) : [];
    this.values = new Map(entries.map(([name, value]) => [name, textsOf(value)]));
  }

  /** Without spaces around it; empty when the field is absent. */
  text(name: string): string {
    return (this.values.get(name)?.[0] ?? '').trim();
  }

  /** All values of a field that may be given several times. */
  all(name: string): string[] {
    return (this.values.get(name) ?? []).map((value) => value.trim()).filter((value) => value !== '');
  }

  has(name: string): boolean {
    return this.values.has(name);
  }
}

function textsOf(value: unknown): string[] {
  const texts = Array.isArray(value) ? (value as unknown[]) : [value];
  return texts.filter((text): text is string => typeof text === 'string').map((text) => text.slice(0, MAX_LENGTH));
}
