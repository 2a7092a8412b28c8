/** What a field becomes; undefined: it is missing. */
const DAMAGES: readonly unknown[] = [undefined, null, false, -7.5, 'x', {}, []];

/** Copies of a value, each with one of its parts, at any depth, replaced by something else. */
export function* damaged(value: object): Generator<{ path: string; copy: object }> {
  for (const [name, part] of Object.entries(value) as [string, unknown][]) {
    for (const damage of DAMAGES) yield { path: name, copy: withPart(value, name, damage) };
    if (typeof part !== 'object' || part === null) continue;
    for (const { path, copy } of damaged(part)) yield { path: `${name}.${path}`, copy: withPart(value, name, copy) };
  }
}

function withPart(value: object, name: string, part: unknown): object {
  const entries = Object.entries(value) as [string, unknown][];
  if (Array.isArray(value)) return entries.map(([each, kept]) => (each === name ? part : kept));
  return Object.fromEntries(
    entries.flatMap(([each, kept]) => {
      if (each !== name) return [[each, kept]];
      return part === undefined ? [] : [[each, part]];
    }),
  );
}
