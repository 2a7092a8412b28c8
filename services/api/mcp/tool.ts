import type { ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Caller } from '../admission/authentication.ts';
import type { RequiredScope } from '../admission/scope.ts';
import { invalidRequest } from '../http/invalid-request.ts';
import { inlineText } from '../reading/comments/untrusted-text.ts';
import { queryParametersOf } from '../openapi/json-schemas.ts';
import type { Answer, Call, Route } from '../http/route.ts';

/** JSON Schema 2020-12 of an object. */
export type ObjectSchema = Record<string, unknown> & { type: 'object' };

/** A call of a tool whose caller is admitted. Its arguments are not validated yet. */
export interface ToolCall {
  caller: Caller;
  requestId: string;
  args: Record<string, unknown>;
  /** Call before charging for the answer. @throws ClientGone when the client has disconnected */
  refuseAbandoned: () => void;
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
  /** The permission it requires. */
  scope: RequiredScope;
  /** @throws ApiError like the route it maps to */
  call(call: ToolCall): Promise<ToolAnswer>;
}

/** A tool that wraps a route of the API: the same checks, the same charge, the same body. */
export interface RouteTool extends Omit<Tool, 'call' | 'scope' | 'inputSchema' | 'outputSchema'> {
  /** Method and path as the API's table has them: `get /v1/monitors`. */
  route: `${Route['method']} ${string}`;
  input: ObjectSchema;
  output: z.ZodType;
  /** Renders the answer's body as text. */
  toText: (body: never) => string;
}

export function routeTool({ toText, input, output, ...tool }: RouteTool, route: Route): Tool {
  return {
    ...tool,
    inputSchema: input,
    outputSchema: outputSchemaOf(output),
    scope: requiredScope(route),
    async call({ caller, requestId, args, refuseAbandoned }) {
      const { id, partId, named } = takeIds(route.path, readArguments(input, args));
      const call: Call = {
        caller,
        requestId,
        id,
        partId,
        query: route.method === 'get' ? queryOf(named) : {},
        body: route.readsBody !== true ? undefined : route.method === 'patch' ? named : withoutBlanks(named),
        idempotencyKey: undefined,
        lastEventId: undefined,
        type: 'application/json',
        refuseAbandoned,
      };
      const answer: Answer = await route.handle(call);
      return { structured: answer.body, text: toText(answer.body as never), charged: answer.charged };
    },
  };
}

/** @throws Error when the route requires no permission: its tool would serve every access token */
export function requiredScope({ method, path, scope }: Route): RequiredScope {
  if (scope === 'any key') throw new Error(`A tool maps to ${method} ${path}, which requires no permission.`);
  return scope;
}

/** Separates the ids of the path from the other arguments. */
function takeIds(
  path: string,
  args: Record<string, unknown>,
): { id: string; partId: string; named: Record<string, unknown> } {
  const ids = ['id', 'mute_id', 'run_id'].filter((field) => path.includes(`/:${field}`));
  const [id = '', partId = ''] = ids.map((field) => {
    const given = args[field];
    if (typeof given !== 'string') throw invalidRequest([{ field, message: 'is required' }]);
    return given;
  });
  const named = Object.fromEntries(Object.entries(args).filter(([field]) => !ids.includes(field)));
  return { id, partId, named };
}

/** Models write null or "" for what they leave out; in a change these clear a setting. */
function withoutBlanks(args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null && value !== ''));
}

/** Lists, numbers and true or false that a model wrote as a text of JSON, where the schema has no text. */
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

/** The types that a JSON Schema allows. */
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

/** The input schema for the parameters of a query. */
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

/** The input schema of a tool about one monitor. */
export function byMonitor(others?: ObjectSchema): ObjectSchema {
  const id = { type: 'string', description: 'Id of a monitor, `mon_…`.' };
  const { properties, required, ...rest } = others ?? { type: 'object' };
  return {
    additionalProperties: false,
    ...rest,
    properties: { id, ...(properties as object | undefined) },
    required: ['id', ...((required ?? []) as string[])],
  };
}

/** They say less to a model than the refusal does. */
const DETAILS = ['pattern', 'minLength', 'maxLength', 'minItems'] as const;

/** A self-contained JSON Schema of what clients send. */
export function inputSchemaOf(schema: z.ZodType): ObjectSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema }) => DETAILS.forEach((detail) => Reflect.deleteProperty(jsonSchema, detail)),
  });
  return { ...rest, type: 'object' };
}

/**
 * A JSON Schema of an answer: its members and their types, not what is inside of them. A model reads the schemas of all
 * tools before its first call, and the answer itself shows the rest.
 */
export function outputSchemaOf(schema: z.ZodType): ObjectSchema {
  const described = z.toJSONSchema(schema, { io: 'output' });
  const root = described.$defs?.[described.$ref?.split('/').at(-1) ?? ''] ?? described;
  const { properties = {}, required = [] } = root as z.core.JSONSchema.ObjectSchema;
  const types = Object.entries(properties).map(([name, member]) => {
    const { type } = member as { type?: unknown };
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
