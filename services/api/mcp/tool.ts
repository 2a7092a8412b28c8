import type { ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Caller, RequiredScope } from '../admission/caller.ts';
import type { Route, RouteResponse, UnparsedRequest } from '../http/route.ts';
import { invalidRequest } from '../http/api-error.ts';
import { queryParametersOf } from '../openapi/json-schemas.ts';
import { inlineText } from '../reading/untrusted-text.ts';

/** JSON Schema 2020-12 of an object. */
export type ObjectSchema = Record<string, unknown> & { type: 'object' };

/** A call of a tool whose caller is admitted. Its arguments are not validated yet. */
export interface ToolCall {
  caller: Caller;
  requestId: string;
  args: Record<string, unknown>;
  /** Call before charging for the response. @throws ClientDisconnected */
  throwIfDisconnected: () => void;
}

export interface ToolAnswer {
  /** Conforms to the output schema. */
  structured: object;
  /** The same content for a model to read, in few tokens. */
  text: string;
  /** What the call cost, and the balance afterwards; undefined for free tools. */
  charged: { credits: number; balance: number } | undefined;
}

export interface Tool {
  name: string;
  title: string;
  description: string;
  annotations: ToolAnnotations;
  inputSchema: ObjectSchema;
  outputSchema: ObjectSchema;
  scope: RequiredScope;
  /** @throws ApiError like the route it maps to */
  call(call: ToolCall): Promise<ToolAnswer>;
}

export const READS = { readOnlyHint: true, openWorldHint: false } as const;
export const READS_FORUM = { readOnlyHint: true, openWorldHint: true } as const;
export const CHANGES = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const;

/** The tool of a route, declared with it: the same checks, the same charge, the same body. */
export interface RouteTool extends Pick<Tool, 'name' | 'title' | 'description' | 'annotations'> {
  /** Default: the first response of the route. */
  output?: z.ZodType;
  toText: (body: never) => string;
}

export function routeTool({ toText, output, ...tool }: RouteTool, route: Route): Tool {
  const input = inputOf(route);
  return {
    ...tool,
    inputSchema: input,
    outputSchema: outputSchemaOf(output ?? (route.responses[0]!.content[0]!.schema as z.ZodType)),
    scope: requiredScope(route),
    async call({ caller, requestId, args, throwIfDisconnected }) {
      const { id, partId, named } = takeIds(route, readArguments(input, args));
      const request: UnparsedRequest = {
        caller,
        requestId,
        id,
        partId,
        query: route.method === 'get' ? queryOf(named) : {},
        body: route.body === undefined ? undefined : route.method === 'patch' ? named : withoutBlanks(named),
        idempotencyKey: undefined,
        lastEventId: undefined,
        type: 'application/json',
        throwIfDisconnected,
      };
      const response: RouteResponse = await route.handle(request);
      return { structured: response.body, text: toText(response.body as never), charged: response.charged };
    },
  };
}

/** The ids of the path, then the parameters of the query or the members of the body. */
function inputOf({ params = {}, query, body }: Route): ObjectSchema {
  const ids = Object.entries(params).map(([name, { description }]) => [name, { type: 'string', description }]);
  const { properties, required, ...rest } =
    query !== undefined
      ? inputOfQuery(query)
      : body !== undefined
        ? inputSchemaOf(body.schema as z.ZodType)
        : ({ type: 'object' } as ObjectSchema);
  return {
    additionalProperties: false,
    ...rest,
    properties: { ...Object.fromEntries(ids), ...(properties as object | undefined) },
    required: [...Object.keys(params), ...((required ?? []) as string[])],
  };
}

/** @throws Error when the route requires no permission: its tool would serve every access token */
export function requiredScope({ method, path, scope }: Route): RequiredScope {
  if (scope === 'any key') throw new Error(`A tool maps to ${method} ${path}, which requires no permission.`);
  return scope;
}

/** Separates the ids of the path from the other arguments. */
function takeIds(
  { params = {} }: Route,
  args: Record<string, unknown>,
): { id: string; partId: string; named: Record<string, unknown> } {
  const [id = '', partId = ''] = Object.keys(params).map((field) => {
    const given = args[field];
    if (typeof given !== 'string') throw invalidRequest([{ field, message: 'is required' }]);
    return given;
  });
  const named = Object.fromEntries(Object.entries(args).filter(([field]) => !Object.hasOwn(params, field)));
  return { id, partId, named };
}

/** Models write null or "" for what they leave out; in a change these clear a setting. */
function withoutBlanks(args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null && value !== ''));
}

/** Parses lists, numbers and booleans that a model wrote as a string of JSON, where the schema allows no string. */
export function readArguments(schema: ObjectSchema, args: Record<string, unknown>): Record<string, unknown> {
  const properties = (schema.properties ?? {}) as Record<string, object>;
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      const types = typesOf(Object.hasOwn(properties, name) ? properties[name]! : {});
      return [
        name,
        typeof value !== 'string' || types.length === 0 || types.includes('string') ? value : parsed(value),
      ];
    }),
  );
}

function typesOf(schema: { type?: string | string[]; anyOf?: object[] }): string[] {
  return [schema.type ?? [], ...(schema.anyOf ?? []).map(typesOf)].flat();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Queries are text, arguments are JSON. */
export function queryOf(args: Record<string, unknown>): Record<string, string> {
  const named = Object.entries(withoutBlanks(args));
  return Object.fromEntries(named.map(([name, value]) => [name, queryText(name, value)]));
}

function queryText(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(',');
  throw invalidRequest([{ field: name, message: 'must be a string, a number, true or false, or a list of strings' }]);
}

export function inputOfQuery(query: z.ZodObject): ObjectSchema {
  const parameters = queryParametersOf(query, {});
  return {
    type: 'object',
    properties: Object.fromEntries(
      parameters.map(({ name, description, schema }) => [
        name,
        {
          ...Object.fromEntries(Object.entries(schema).filter(([detail]) => !DETAILS.some((one) => one === detail))),
          ...(description === undefined ? {} : { description }),
        },
      ]),
    ),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}

/** They help a model less than the message of a refusal. */
const DETAILS = ['pattern', 'minLength', 'maxLength', 'minItems'] as const;

/** A self-contained JSON Schema of what clients send, without references: not every model's API resolves them. */
function inputSchemaOf(schema: z.ZodType): ObjectSchema {
  const { $defs = {}, ...root } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema }) =>
      [...DETAILS, 'id', 'examples'].forEach((detail) => Reflect.deleteProperty(jsonSchema, detail)),
  });
  const { $schema: _dialect, properties = {}, ...whole } = inlined(root, $defs) as z.core.JSONSchema.ObjectSchema;
  const brief = Object.entries(properties).map(([name, member]) => [
    name,
    typeof member === 'object' && 'properties' in member
      ? { ...member, properties: withoutDescriptions(member.properties) }
      : member,
  ]);
  return { ...whole, type: 'object', properties: Object.fromEntries(brief) as object };
}

/** For an object within the arguments, whose members another tool describes. */
function withoutDescriptions(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(withoutDescriptions);
  const members = Object.entries(schema).filter(([name, value]) => name !== 'description' || typeof value !== 'string');
  return Object.fromEntries(members.map(([name, value]) => [name, withoutDescriptions(value)]));
}

function inlined(schema: unknown, defs: Record<string, unknown>): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((one) => inlined(one, defs));
  const { $ref, ...rest } = schema as { $ref?: string };
  const members = Object.entries(rest).map(([name, member]) => [name, inlined(member, defs)]);
  const referred = $ref === undefined ? {} : (inlined(defs[$ref.split('/').at(-1)!], defs) as object);
  return { ...referred, ...(Object.fromEntries(members) as object) };
}

/**
 * A JSON Schema of a response: its members and their types, not what they contain. A model reads the schemas of all
 * tools before its first call, and the response itself shows the rest.
 */
export function outputSchemaOf(schema: z.ZodType): ObjectSchema {
  const { $defs = {}, ...described } = z.toJSONSchema(schema, { io: 'output' });
  const named = ({ $ref }: { $ref?: string | undefined }) => $defs[$ref?.split('/').at(-1) ?? ''];
  const { properties = {}, required = [] } = (named(described) ?? described) as z.core.JSONSchema.ObjectSchema;
  const types = Object.entries(properties).map(([name, member]) => {
    const { type } = (named(member as object) ?? member) as { type?: unknown };
    return [name, type === undefined ? {} : { type }];
  });
  return { type: 'object', properties: Object.fromEntries(types), required };
}

const EXCERPT_CHARACTERS = 300;

/** The beginning of an untrusted text, on one line; never splits a character. */
export function excerptOf(text: string): string {
  const begun = Array.from(text.slice(0, 4 * EXCERPT_CHARACTERS));
  const isWhole = begun.length <= EXCERPT_CHARACTERS && text.length <= 4 * EXCERPT_CHARACTERS;
  return inlineText(isWhole ? text : `${begun.slice(0, EXCERPT_CHARACTERS).join('')} …`);
}
