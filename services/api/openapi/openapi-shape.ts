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

export type Method = 'get' | 'post' | 'patch' | 'delete';

/** The part of an OpenAPI 3.1 document that this service uses. */
export interface OpenApiDocument {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } };
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  /** By path, with `{id}`. */
  paths: Record<string, Partial<Record<Method, Operation>>>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, ResponseObject>;
    headers: Record<string, HeaderObject>;
    securitySchemes: Record<string, Record<string, string>>;
  };
}
