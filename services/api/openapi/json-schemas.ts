import { z } from 'zod';
import type { JsonSchema, Parameter } from './openapi-shape.ts';

const COMPONENTS = '#/components/schemas/';

/**
 * Zod schemas as JSON Schema, by name; where one holds another it refers to it.
 *
 * @param side `output`: as answers hold them; `input`: as clients send them
 * @throws Error when one holds a schema that has an id but is not among them
 */
export function jsonSchemasOf(named: Record<string, z.ZodType>, side: 'input' | 'output'): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io: side,
    uri: (id) => COMPONENTS + id,
    override: ({ jsonSchema }) => simplify(jsonSchema),
  });
  // A schema that is not in the registry gets a place that no component has.
  const stray = /__shared#\/\$defs\/(\w+)/.exec(JSON.stringify(schemas))?.[1];
  if (stray !== undefined) throw new Error(`the schema ${stray} is used, but no component`);
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const { $schema: _dialect, $id: _id, id: _name, ...rest } = schema as JsonSchema;
      return [name, rest];
    }),
  );
}

/**
 * The parameters of a query, in its schema's order. Each is described by what it means (the side behind the
 * transformations: numbers, booleans, lists), while a parameter is required only where its text is.
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

/** Bounds that say no more than "an integer" or "a time" are left out. */
function simplify(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.format === 'date-time') delete schema.pattern;
}
