/** A member of a form: text, or members by name. */
export type FormValue = string | { [name: string]: FormValue };

/**
 * Reads a form with nested names, as Stripe's API takes it: `line_items[0][quantity]=1` becomes
 * `{line_items: {0: {quantity: '1'}}}`. A name that contradicts an earlier one is dropped.
 */
export function nestedForm(parameters: URLSearchParams): Record<string, FormValue> {
  const root = emptyMembers();
  for (const [name, value] of parameters) {
    const path = name.split('[').map((part) => part.replace(/\]$/, ''));
    const last = path.pop()!;
    const place = placeOf(root, path);
    if (place !== undefined) place[last] ??= value;
  }
  return root;
}

/** Without a prototype, so that no name means anything special. */
function emptyMembers(): Record<string, FormValue> {
  return Object.create(null) as Record<string, FormValue>;
}

/** The members at a path, which are created; undefined when there is a text on the way. */
function placeOf(root: Record<string, FormValue>, path: readonly string[]): Record<string, FormValue> | undefined {
  let place = root;
  for (const part of path) {
    const next = (place[part] ??= emptyMembers());
    if (typeof next === 'string') return undefined;
    place = next;
  }
  return place;
}

/** The text at a path of names; undefined when there is none. */
export function textAt(form: FormValue | undefined, ...path: string[]): string | undefined {
  let value = form;
  for (const part of path) value = typeof value === 'object' ? value[part] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** The members at a path of names that are text. */
export function textsAt(form: FormValue | undefined, ...path: string[]): Record<string, string> {
  let value = form;
  for (const part of path) value = typeof value === 'object' ? value[part] : undefined;
  const members = typeof value === 'object' ? Object.entries(value) : [];
  return Object.fromEntries(members.filter((member): member is [string, string] => typeof member[1] === 'string'));
}
