import { z } from 'zod';
import type { JsonSchema, Parameter } from './openapi-shape.ts';

const COMPONENTS = '#/components/schemas/';

/**
 * Converts Zod schemas to JSON Schema, by name; nested named schemas become references.
 *
 * @param side `output`: as answers have them; `input`: as clients send them
 * @throws Error when a nested schema has an id but is not among them
 */
export function jsonSchemasOf(named: Record<string, z.ZodType>, side: 'input' | 'output'): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io: side,
    uri: (id) => COMPONENTS + id,
    override: ({ jsonSchema }) => simplify(jsonSchema),
  });
  // Schemas outside the registry get a place that no component uses.
  const stray = /__shared#\/\$defs\/(\w+)/.exec(JSON.stringify(schemas))?.[1];
  if (stray !== undefined) throw new Error(`the schema ${stray} is used but is not a component`);
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const { $schema: _dialect, $id: _id, id: _name, ...rest } = schema as JsonSchema;
      return [name, rest];
    }),
  );
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
