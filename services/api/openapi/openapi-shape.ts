import type { ErrorCode } from '../../../shared/rules/error-codes.ts';

/** A JSON Schema (2020-12), or a reference to one. */
export type JsonSchema = Record<string, unknown>;

export interface Reference {
  $ref: string;
}

export interface HeaderObject {
  description: string;
  required: boolean;
  schema: JsonSchema;
}

export interface MediaType {
  schema: JsonSchema;
  examples: Record<string, { value: unknown }>;
}

export interface ResponseObject {
  description: string;
  headers: Record<string, HeaderObject | Reference>;
  /** By media type; absent without a body. */
  content?: Record<string, MediaType>;
  /**
   * The codes of an error. They are not part of its schema, because generators of clients would make a class of each
   * narrowed error, or drop the answer.
   */
  'x-error-codes'?: ErrorCode[];
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  style?: 'form';
  explode?: false;
  schema: JsonSchema;
  example?: unknown;
}

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  /** The server of the operation, when it is not that of the API. */
  servers?: { url: string; description: string }[];
  security: Record<string, string[]>[];
  parameters: Parameter[];
  requestBody?: { required: boolean; content: Record<string, MediaType> };
  /** By status. */
  responses: Record<string, ResponseObject | Reference>;
}

/** A request that this service sends. */
export interface WebhookOperation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  parameters: Parameter[];
  requestBody: { required: true; content: Record<string, MediaType> };
  /** What a receiver may answer. */
  responses: Record<string, { description: string }>;
}

export type Method = 'get' | 'post' | 'patch' | 'delete';

/** The part of an OpenAPI 3.1 document that this service uses. */
export interface OpenApiDocument {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } };
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  /** By path, with `{id}`. */
  paths: Record<string, Partial<Record<Method, Operation>>>;
  /** By name. */
  webhooks: Record<string, { post: WebhookOperation }>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, ResponseObject>;
    headers: Record<string, HeaderObject>;
    securitySchemes: Record<string, Record<string, string>>;
  };
}
