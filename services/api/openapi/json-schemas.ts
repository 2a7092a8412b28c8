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
    const { $defs } = z.toJSONSchema(schema, { io: side, override: ({ jsonSchema }) => simplify(jsonSchema) });
    const text = JSON.stringify($defs).replaceAll('"#/$defs/', `"${COMPONENTS}`);
    for (const [id, { id: _id, ...found }] of Object.entries(JSON.parse(text) as Record<string, JsonSchema>)) {
      if (side === 'input') describeDefaults(found);
      this.all[id] = found;
    }
    return refTo(name);
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
  const meant = z.toJSONSchema(query, { io: 'output', unrepresentable });
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

/** Drops bounds that add nothing to "integer" or "date-time". */
function simplify(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.format === 'date-time') delete schema.pattern;
}
