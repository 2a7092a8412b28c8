import type { ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Caller } from '../admission/authentication.ts';
import type { RequiredScope } from '../admission/scope.ts';
import { invalidRequest } from '../http/invalid-request.ts';
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

interface RouteTool extends Omit<Tool, 'call' | 'scope'> {
  route: Route;
  /** Renders the answer's body as text. */
  toText: (body: never) => string;
}

/** A tool that wraps a route of the API: the same checks, the same charge, the same body. */
export function routeTool({ route, toText, ...tool }: RouteTool): Tool {
  return {
    ...tool,
    scope: requiredScope(route),
    async call({ caller, requestId, args, refuseAbandoned }) {
      const { id, partId, named } = takeIds(route.path, args);
      const call: Call = {
        caller,
        requestId,
        id,
        partId,
        query: route.method === 'get' ? queryOf(named) : {},
        body: route.readsBody === true ? bodyOf(route, named) : undefined,
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

/** Null arguments count as absent, except in a change, where null clears a setting. */
function bodyOf({ method }: Route, named: Record<string, unknown>): Record<string, unknown> {
  return method === 'patch' ? named : withoutNulls(named);
}

function withoutNulls(args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null && value !== undefined));
}

/** Queries are text, arguments are JSON. A null argument counts as absent. */
export function queryOf(args: Record<string, unknown>): Record<string, string> {
  const named = Object.entries(withoutNulls(args));
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
        { ...schema, ...(description === undefined ? {} : { description }) },
      ]),
    ),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}

/**
 * A self-contained JSON Schema.
 *
 * @param side `output`: as answers have it; `input`: as clients send it
 */
export function objectSchemaOf(schema: z.ZodType, side: 'input' | 'output'): ObjectSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: side });
  return { ...rest, type: 'object' };
}
