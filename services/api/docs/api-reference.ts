import { ApiError } from '../http/api-error.ts';
import { ERROR_CODES } from '../../../shared/rules/error-codes.ts';
import type { ErrorCode } from '../../../shared/rules/error-codes.ts';
import type {
  JsonSchema,
  MediaType,
  OpenApiDocument,
  Operation,
  Parameter,
  Reference,
  WebhookOperation,
} from '../openapi/openapi-shape.ts';
import { ERROR_TEXTS, statusesOf, textOf } from '../openapi/responses.ts';
import type { DocsPage } from './docs-pages.ts';
import { codeExamples, jsonText } from './code-examples.ts';

const OVERVIEW = 'reference/api';
const ERRORS = 'reference/errors';
const OBJECTS = `${OVERVIEW}/objects`;

/** Pages made from the API's description: an overview, errors, objects, and one for each operation and webhook. */
export function apiReference(document: OpenApiDocument): DocsPage[] {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const webhooks = Object.values(document.webhooks).map(({ post }) => post);
  const common = commonCodes(operations.map(({ operation }) => codesOf(document, operation)));
  const described = [
    ...operations.map((one) => operationPage(document, one, common)),
    ...webhooks.map((webhook) => webhookPage(document, webhook)),
  ];
  return [
    overview(document, operations, webhooks, common),
    errorsPage(document.servers[0]!.url),
    ...described,
    objectsPage(document, described),
  ];
}

interface DescribedOperation {
  path: string;
  method: string;
  operation: Operation;
}

/** `createMonitor` → `reference/api/create-monitor` */
const slugOf = (operationId: string) => `${OVERVIEW}/${operationId.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`;
/** Relative to the overview, as links in Markdown are. */
const linkTo = ({ operationId, summary }: Operation | WebhookOperation) =>
  `[${summary}](${slugOf(operationId).replace('reference/', '')}.md)`;

function overview(
  { info, tags, servers }: OpenApiDocument,
  operations: readonly DescribedOperation[],
  webhooks: readonly WebhookOperation[],
  common: readonly ErrorCode[],
): DocsPage {
  const groups = tags.map(({ name, description }) => {
    const rows = operations
      .filter(({ operation }) => operation.tags.includes(name))
      .map(({ path, method, operation }) => [`\`${method.toUpperCase()} ${path}\``, linkTo(operation)]);
    return `## ${name}\n\n${description}\n\n${table(['Request', 'What it does'], rows)}`;
  });
  const sent = webhooks.map((webhook) => `- ${linkTo(webhook)}`).join('\n');
  return {
    slug: OVERVIEW,
    title: 'API',
    summary: 'every operation, with its parameters, examples and errors',
    section: 'Reference',
    markdown: [
      '# API',
      info.description,
      `The address of this installation is ${servers[0]!.url}. The same description for programs is [openapi.json](/openapi.json) (OpenAPI 3.1).`,
      ...groups,
      '## Webhooks',
      'Requests that this service sends to your webhooks.',
      sent,
      '## Errors of every request',
      'Each request with a key can be answered with these; the page of an operation lists what it adds.',
      errorTable(common, 'errors.md'),
    ].join('\n\n'),
  };
}

function errorsPage(baseUrl: string): DocsPage {
  const entries = Object.entries(ERROR_CODES).map(([code, { retryable }]) => {
    const retry = retryable ? 'The same request may succeed later.' : 'The same request will fail again.';
    const cases = statusesOf(code as ErrorCode).map((status) => {
      const { when, remedy, message } = textOf(status, code as ErrorCode);
      return `Status ${status}. Sent when ${when}. ${retry}\n\nWhat to do: ${remedy}\n\n> ${message}`;
    });
    return `## ${code}\n\n${cases.join('\n\n')}`;
  });
  return {
    slug: ERRORS,
    title: 'Errors',
    summary: 'every error code, when it is sent, and what to do',
    section: 'Reference',
    markdown: [
      '# Errors',
      'Every error has the same body. Branch on `code`, which never changes its meaning; `message` is for people, and begins with the name of the wrong field if there is one. `doc_url` leads to the entry on this page.',
      fence('json', errorExample(baseUrl)),
      'Retry only when `retryable` is true, and wait `retry_after` seconds if it is there (the same as the header `Retry-After`). Failed requests cost nothing.',
      ...entries,
    ].join('\n\n'),
  };
}

function errorExample(baseUrl: string): string {
  return jsonText(new ApiError('rate_limited', ERROR_TEXTS.rate_limited.message, { retryAfter: 1 }).envelope(baseUrl));
}

const OBJECT_LINK = /\(objects\.md#(\w+)\)/g;

/** The objects that pages link to, and those that these link to, by name. */
function objectsPage(document: OpenApiDocument, pages: readonly DocsPage[]): DocsPage {
  const names = new Map(Object.keys(document.components.schemas).map((name) => [name.toLowerCase(), name]));
  const texts = new Map<string, string>();
  const add = (markdown: string): void => {
    for (const [, anchor] of markdown.matchAll(OBJECT_LINK)) {
      const name = names.get(anchor!)!;
      if (texts.has(name)) continue;
      const schema = document.components.schemas[name]!;
      texts.set(name, '');
      texts.set(name, `## ${name}\n\n${fieldTable(document, schema, 'optional')}`);
      add(texts.get(name)!);
    }
  };
  for (const { markdown } of pages) add(markdown);
  const sorted = [...texts].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, text]) => text);
  return page(OBJECTS, 'Objects', ['# Objects', 'What responses and webhooks hold, by name.', ...sorted]);
}

function operationPage(
  document: OpenApiDocument,
  { path, method, operation }: DescribedOperation,
  common: readonly ErrorCode[],
): DocsPage {
  const { summary, description, parameters, requestBody, responses } = operation;
  const body = requestBody?.content['application/json'];
  const server = operation.servers?.[0]?.url ?? document.servers[0]!.url;
  const type = successType(document, responses);
  const codes = codesOf(document, operation);
  const isCommon = common.every((code) => codes.includes(code));
  // An error of every request is repeated where the description says when it is sent.
  const isOwn = (code: ErrorCode) => !isCommon || !common.includes(code) || description.includes(`\`${code}\``);
  const own = codes.filter(isOwn);
  const more = isCommon ? 'The [errors of every request](../api.md#errors-of-every-request) apply as well.' : '';
  const parts = [
    `# ${summary}`,
    fence('http', `${method.toUpperCase()} ${path}`),
    description,
    `## Example\n\n${codeExamples({ method, url: server + path, operation, body: firstExample(body), type })}`,
    parameters.length > 0 && `## Parameters\n\n${parameterTable(document, parameters)}`,
    body && `## Body\n\n${fieldTable(document, body.schema, 'required')}`,
    ...Object.entries(responses)
      .filter(([status]) => Number(status) < 400)
      .map(([status, response]) => responseText(document, status, response)),
    `## Errors\n\n${own.length > 0 ? errorTable(own, '../errors.md') : ''}\n\n${more}`.trim(),
  ];
  return page(slugOf(operation.operationId), summary, parts);
}

function webhookPage(
  document: OpenApiDocument,
  { operationId, summary, description, parameters, requestBody, responses }: WebhookOperation,
): DocsPage {
  const contents = Object.values(requestBody.content);
  const parts = [
    `# ${summary}`,
    description,
    `## Headers\n\n${parameterTable(document, parameters)}`,
    ...contents.map((content) => `## Body\n\n${fieldTable(document, content.schema, 'optional')}`),
    ...contents.map((content) => `## Example\n\n${fence('json', jsonText(firstExample(content)))}`),
    `## Your response\n\n${table(
      ['Status', 'Meaning'],
      Object.entries(responses).map(([status, response]) => [status, response.description]),
    )}`,
  ];
  return page(slugOf(operationId), summary, parts);
}

function page(slug: string, title: string, parts: readonly (string | false | undefined)[]): DocsPage {
  const markdown = parts.filter((part) => typeof part === 'string' && part !== '').join('\n\n');
  return { slug, title, summary: '', section: undefined, markdown };
}

function responseText(document: OpenApiDocument, status: string, given: Operation['responses'][string]): string {
  const { description, content = {} } = resolve(document, given);
  const bodies = Object.entries(content).map(([type, media]) => {
    const example = firstExample(media);
    const text = typeof example === 'string' ? example : jsonText(example);
    const language = type.includes('json') ? 'json' : 'text';
    return `${Object.keys(content).length > 1 || language !== 'json' ? `As \`${type}\`:\n\n` : ''}${fence(language, shortened(text))}\n\n${fieldTable(document, media.schema, 'optional')}`;
  });
  return [`## Response ${status}`, description, ...bodies].join('\n\n').trim();
}

const MAX_EXAMPLE_LINES = 60;

function shortened(text: string): string {
  const lines = text.trimEnd().split('\n');
  return lines.length <= MAX_EXAMPLE_LINES ? lines.join('\n') : [...lines.slice(0, MAX_EXAMPLE_LINES), '…'].join('\n');
}

function firstExample(media: MediaType | undefined): unknown {
  return Object.values(media?.examples ?? {})[0]?.value;
}

/** The media type of what an operation answers when it succeeds. */
function successType(document: OpenApiDocument, responses: Operation['responses']): string | undefined {
  const found = Object.entries(responses).find(([status]) => status.startsWith('2'));
  return found && Object.keys(resolve(document, found[1]).content ?? {})[0];
}

function codesOf(document: OpenApiDocument, { responses }: Operation): ErrorCode[] {
  return [...new Set(Object.values(responses).flatMap((one) => resolve(document, one)['x-error-codes'] ?? []))];
}

/** The errors that most operations share. */
function commonCodes(all: readonly ErrorCode[][]): ErrorCode[] {
  const most = all.filter((codes) => codes.includes('unauthorized'));
  return most[0]?.filter((code) => most.every((codes) => codes.includes(code))) ?? [];
}

function resolve(document: OpenApiDocument, response: Operation['responses'][string]) {
  return '$ref' in response ? document.components.responses[nameOf(response)]! : response;
}

const nameOf = ({ $ref }: Reference) => $ref.slice($ref.lastIndexOf('/') + 1);

function errorTable(codes: readonly ErrorCode[], errors: string): string {
  return table(
    ['Status', 'Code', 'When'],
    codes.flatMap((code) =>
      statusesOf(code).map((status) => [
        String(status),
        `[\`${code}\`](${errors}#${code})`,
        sentence(textOf(status, code).when),
      ]),
    ),
  );
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

function parameterTable(document: OpenApiDocument, parameters: readonly Parameter[]): string {
  return table(
    ['Name', 'In', 'Type', 'Meaning'],
    parameters.map((one) => [
      `\`${one.name}\`${one.required ? ' (required)' : ''}`,
      one.in,
      typeText(document, one.schema),
      withDefault(one.description, one.schema),
    ]),
  );
}

function withDefault(description = '', schema: JsonSchema): string {
  return 'default' in schema
    ? `${description} Default: \`${typeof schema.default === 'string' ? schema.default : JSON.stringify(schema.default)}\`.`.trim()
    : description;
}

type Noted = 'required' | 'optional';

/** The fields of an object and of the objects in it, by their paths: `monitor.id`, `items[].id`. */
function fieldTable(document: OpenApiDocument, schema: JsonSchema, noted: Noted): string {
  const rows = fieldRows(document, schema, { prefix: '', depth: 0, noted });
  return rows.length === 0 ? '' : table(['Field', 'Type', 'Meaning'], rows);
}

const MAX_DEPTH = 3;

function fieldRows(
  document: OpenApiDocument,
  given: JsonSchema,
  { prefix, depth, noted }: { prefix: string; depth: number; noted: Noted },
): string[][] {
  const schema = objectIn(document, given);
  if (schema === undefined || depth > MAX_DEPTH) return [];
  const required = (schema.required ?? []) as string[];
  return Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>).flatMap(([name, field]) => {
    const path = prefix + name;
    const isNoted = required.includes(name) === (noted === 'required');
    const { description } = field.description === undefined ? dereference(document, field) : field;
    const row = [
      `\`${path}\`${isNoted ? ` (${noted})` : ''}`,
      typeText(document, field, noted === 'optional'),
      withDefault(description as string | undefined, field),
    ];
    // What is sent is shown where it is needed; what is received has a name, and a place of its own.
    if (noted === 'optional' && linkedObject(field) !== undefined) return [row];
    const below = { prefix: `${path}${isList(document, field) ? '[].' : '.'}`, depth: depth + 1, noted };
    return [row, ...fieldRows(document, field, below)];
  });
}

/** The object that a schema describes, itself, in a list, or as the one alternative to null. */
function objectIn(document: OpenApiDocument, given: JsonSchema): JsonSchema | undefined {
  const schema = dereference(document, given);
  if (schema.properties !== undefined) return schema;
  const inner = (schema.items ?? soleAlternative(schema)) as JsonSchema | undefined;
  return inner === undefined ? undefined : objectIn(document, inner);
}

function isList(document: OpenApiDocument, given: JsonSchema): boolean {
  const schema = dereference(document, given);
  const inner = soleAlternative(schema);
  return schema.items !== undefined || (inner !== undefined && isList(document, inner));
}

function soleAlternative({ anyOf }: JsonSchema): JsonSchema | undefined {
  const others = ((anyOf ?? []) as JsonSchema[]).filter(({ type }) => type !== 'null');
  return others.length === 1 ? others[0] : undefined;
}

function dereference(document: OpenApiDocument, schema: JsonSchema): JsonSchema {
  return typeof schema.$ref === 'string'
    ? document.components.schemas[nameOf(schema as unknown as Reference)]!
    : schema;
}

/** @param linked whether objects with a name are links to it */
function typeText(document: OpenApiDocument, given: JsonSchema, linked = false): string {
  if (linked && typeof given.$ref === 'string') {
    const name = nameOf(given as unknown as Reference);
    if (document.components.schemas[name]?.properties !== undefined)
      return `[${name}](objects.md#${name.toLowerCase()})`;
  }
  const schema = dereference(document, given);
  const alternatives = schema.anyOf as JsonSchema[] | undefined;
  if (alternatives !== undefined) return oneOf(alternatives.map((one) => typeText(document, one, linked)));
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined) return (schema.enum as unknown[]).map((one) => `\`${String(one)}\``).join(', ');
  if (Array.isArray(schema.type)) return schema.type.join(' or ');
  if (schema.type === 'array') return `list ${itemsText(document, schema, linked)}`;
  return typeof schema.type === 'string' ? `${schema.type}${bounds(schema)}` : 'any value';
}

/** `of at most 20 strings` */
function itemsText(document: OpenApiDocument, { items, maxItems }: JsonSchema, linked: boolean): string {
  const text = items === undefined ? 'any values' : pluralText(document, items as JsonSchema, linked);
  return `of ${maxItems === undefined ? '' : `at most ${Number(maxItems)} `}${text}`;
}

/** The type of the items of a list. How long each may be is left out. */
function pluralText(document: OpenApiDocument, given: JsonSchema, linked: boolean): string {
  const { anyOf, type, enum: words, ...schema } = dereference(document, given);
  if (anyOf !== undefined) return oneOf((anyOf as JsonSchema[]).map((one) => pluralText(document, one, linked)));
  if (type === 'array') return `lists ${itemsText(document, schema, linked)}`;
  const text = typeText(document, { ...given, maxLength: undefined }, linked);
  return words === undefined && typeof type === 'string' ? text.replace(new RegExp(`^${type}`), `${type}s`) : text;
}

function oneOf(texts: readonly string[]): string {
  const different = [...new Set(texts)];
  return different.join(different.some((text) => /[ ,]/.test(text.replaceAll(/\([^()]*\)/g, ''))) ? ', or ' : ' or ');
}

/** The schema with a name that a field holds, itself, in a list, or as the one alternative to null. */
function linkedObject(field: JsonSchema): JsonSchema | undefined {
  if (field.$ref !== undefined) return field;
  const inner = (field.items ?? soleAlternative(field)) as JsonSchema | undefined;
  return inner && linkedObject(inner);
}

function bounds({ minimum, maximum, maxLength, format }: JsonSchema): string {
  if (typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER) return `, ${Number(minimum)} to ${maximum}`;
  if (format === 'date-time') return ', RFC 3339 time';
  if (format === 'uri') return ', URL';
  return typeof maxLength === 'number' ? `, at most ${maxLength} characters` : '';
}

function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
