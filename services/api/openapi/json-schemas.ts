import { z } from 'zod';
import type { JsonSchema, Parameter } from './openapi-shape.ts';

const COMPONENTS = '#/components/schemas/';

export function refTo(name: string): JsonSchema {
  return { $ref: COMPONENTS + name };
}

/** Named schemas (`.meta({ id })`) as JSON Schema, each with all named schemas inside of it. */
export class ComponentSchemas {
  readonly all: Record<string, JsonSchema> = {};

  /**
   * Adds a schema and refers to it.
   *
   * @param side `output`: as answers have it; `input`: as clients send it, so that fields with a default are optional
   * @throws Error when it has no name
   */
  add(schema: z.ZodType, side: 'input' | 'output'): JsonSchema {
    const name = z.globalRegistry.get(schema)?.id;
    if (name === undefined) throw new Error('a body of the API has no name: give its schema `.meta({ id })`');
    if (name in this.all) return refTo(name);
    const { $defs } = z.toJSONSchema(schema, { io: side, override: simplify });
    const text = JSON.stringify($defs).replaceAll('"#/$defs/', `"${COMPONENTS}`);
    for (const [id, { id: _id, ...found }] of Object.entries(JSON.parse(text) as Record<string, JsonSchema>)) {
      if (side === 'input') describeDefaults(found);
      this.all[id] = found;
    }
    return refTo(name);
  }
}

type Part = z.core.JSONSchema.BaseSchema;

/**
 * The example of a schema: the first of its `examples`, or else one made of those of its parts. A member that may be
 * absent is left out unless it has examples itself.
 *
 * @throws Error that names the part without an example
 */
export function exampleOf<S extends z.ZodType>(schema: S, side: 'input' | 'output' = 'output'): z.output<S> {
  const { id = 'a schema', examples } = z.globalRegistry.get(schema) ?? {};
  // The JSON Schema of an input that is transformed has no examples.
  if (Array.isArray(examples)) return examples[0] as z.output<S>;
  const { $defs = {}, ...root } = z.toJSONSchema(schema, { io: side });
  return needed(root, id) as z.output<S>;

  function needed(part: Part, name: string): unknown {
    const found = partExample(part, name);
    if (found === undefined) throw new Error(`${name} has no example: give it \`.meta(example(…))\``);
    return found;
  }

  function partExample(part: Part, name: string): unknown {
    const { $ref, items, properties = {}, required = [], anyOf = [], oneOf = anyOf } = part;
    const [first] = part.examples ?? part.enum ?? (part.const === undefined ? [] : [part.const]);
    if (first !== undefined) return first;
    if ($ref !== undefined) return partExample($defs[$ref.split('/').at(-1)!]!, name);
    if (oneOf.length > 0) return oneOf.map((option) => partExample(option, name)).find((one) => one !== undefined);
    const types = [part.type].flat();
    if (types.includes('boolean')) return false;
    if (types.includes('null')) return null;
    if (types.includes('array')) return [needed(items as Part, `${name}[]`)];
    if (!types.includes('object')) return undefined;
    const members = Object.entries(properties as Record<string, Part>);
    const shown = members.filter(([member, { examples }]) => required.includes(member) || examples !== undefined);
    return Object.fromEntries(shown.map(([member, one]) => [member, needed(one, `${name}.${member}`)]));
  }
}

/**
 * Says in words what an absent field means. Generators treat a field that has a `default` as always present, so clients
 * would have to send it.
 */
function describeDefaults(body: JsonSchema): void {
  for (const field of Object.values((body.properties ?? {}) as Record<string, JsonSchema>)) {
    if (field.default === undefined) continue;
    const description = typeof field.description === 'string' ? `${field.description} ` : '';
    field.description = `${description}Default: \`${JSON.stringify(field.default)}\`.`;
    delete field.default;
  }
}

/**
 * The parameters of a query, in the order of its schema. Each is described by its parsed value (number, boolean, list),
 * but is required only where its text is.
 *
 * @param examples values of parameters, by name
 */
export function queryParametersOf(query: z.ZodObject, examples: Record<string, unknown>): Parameter[] {
  const unrepresentable = 'any';
  const input = z.toJSONSchema(query, { io: 'input', unrepresentable });
  const meant = z.toJSONSchema(query, { io: 'output', unrepresentable, override: withoutExamples });
  return Object.entries(meant.properties ?? {}).map(([name, property]) => {
    const { description, ...schema } = property as JsonSchema & { description?: string };
    return {
      name,
      in: 'query',
      required: input.required?.includes(name) ?? false,
      ...(description === undefined ? {} : { description }),
      ...(schema.type === 'array' ? { style: 'form', explode: false } : {}),
      schema,
      ...(name in examples ? { example: examples[name] } : {}),
    };
  });
}

/** Bodies have their examples as a whole, parameters beside their schema. */
function withoutExamples({ jsonSchema }: { jsonSchema: Part }): void {
  delete jsonSchema.examples;
}

/** Also drops bounds that add nothing to "integer" or "date-time". */
function simplify({ jsonSchema: schema }: { jsonSchema: Part }): void {
  withoutExamples({ jsonSchema: schema });
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.format === 'date-time') delete schema.pattern;
}
