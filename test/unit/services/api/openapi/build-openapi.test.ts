import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { webhookEvent } from '../../../../../schemas/messages/monitor-event.ts';
import { buildOpenApiDocument } from '../../../../../services/api/openapi/build-openapi.ts';
import type { JsonSchema, MediaType, Parameter } from '../../../../../services/api/openapi/openapi-shape.ts';
import { openApiPath } from '../../../../../services/api/http/route.ts';
import { buildWebhookMessage } from '../../../../../shared/deliveries/rules/webhook-message.ts';
import { describedRoutes } from '../../../../support/fixtures/idle-api.ts';
import { resolved, validate } from '../../../../support/oracles/openapi-checker.ts';
import { chatMatch } from '../../../../support/samples/chat-matches.ts';

const routes = describedRoutes();
const document = buildOpenApiDocument(routes, 'https://api.example.com/base');
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
);
const copy = () => JSON.parse(JSON.stringify(document)) as Record<string, unknown>;

describe('the document', () => {
  test('is valid OpenAPI 3.1', async () => {
    expect(await new Validator().validate(copy())).toMatchObject({ valid: true });
    const broken = copy();
    broken.info = { title: 'without a version' };
    expect((await new Validator().validate(broken)).valid).toBe(false);
  });

  test('has references that resolve, and no unreferenced component', () => {
    const text = JSON.stringify(document);
    const references = new Set([...text.matchAll(/"\$ref":"(#[^"]+)"/g)].map(([, reference]) => reference!));
    for (const $ref of references) expect(resolved(document, { $ref }), $ref).toBeDefined();
    const { schemas, responses } = document.components;
    const components = [
      ...Object.keys(schemas).map((name) => `#/components/schemas/${name}`),
      ...Object.keys(responses).map((name) => `#/components/responses/${name}`),
    ];
    expect(components.filter((component) => !references.has(component))).toEqual([]);
  });

  test('allows no unknown fields in answers', () => {
    const open: string[] = [];
    const visit = (schema: unknown, at: string): void => {
      if (typeof schema !== 'object' || schema === null) return;
      const { type, properties, additionalProperties } = schema as JsonSchema;
      if (type === 'object' && properties !== undefined && additionalProperties !== false) open.push(at);
      for (const [key, value] of Object.entries(schema)) visit(value, `${at}/${key}`);
    };
    visit(document.components.schemas, '');
    expect(open).toEqual([]);
  });
});

describe('parameters', () => {
  const queried = routes.flatMap(({ method, path, query }) =>
    query === undefined ? [] : [{ name: `${method} ${openApiPath(path)}`, query }],
  );
  const parametersOf = (name: string) =>
    operations.find((one) => one.name === name)!.operation.parameters.filter((one) => one.in === 'query');

  test.each(queried)('of $name are validated as documented', ({ name, query }) => {
    const parameters = parametersOf(name);
    const asked = exampleRequest(parameters);
    expect(query.safeParse(asked).error).toBeUndefined();
    for (const parameter of parameters) {
      const { [parameter.name]: _absent, ...others } = asked;
      for (const [text, isValid] of probesOf(parameter)) {
        const result = query.safeParse({ ...others, [parameter.name]: text });
        expect(result.success, `${parameter.name}=${text}`).toBe(isValid);
      }
      const without = query.safeParse(others);
      // One of url and id is enough, and the example has one.
      if (parameter.required) expect(without.success, `without ${parameter.name}`).toBe(false);
      else if (without.success) {
        expect(without.data[parameter.name]).toEqual(parameter.schema.default);
      }
    }
  });

  test('have valid examples', () => {
    for (const { name, operation } of operations) {
      for (const { name: parameter, schema, example } of operation.parameters) {
        if (example !== undefined) validate(document, schema, example, `${name} ${parameter}`);
      }
    }
  });
});

/** The text of a request with every documented example. */
function exampleRequest(parameters: readonly Parameter[]): Record<string, string> {
  const given = parameters.filter(({ example }) => example !== undefined);
  return Object.fromEntries(given.map(({ name, example }) => [name, String(example)]));
}

/** Texts of a parameter, and whether its schema allows them. */
function probesOf({ schema }: Parameter): [string, boolean][] {
  const { type, enum: values } = schema;
  const bound = (name: string) => (typeof schema[name] === 'number' ? schema[name] : undefined);
  const [minimum, maximum, maxLength, maxItems] = ['minimum', 'maximum', 'maxLength', 'maxItems'].map(bound);
  if (Array.isArray(values))
    return [...(values as string[]).map((value): [string, boolean] => [value, true]), ['?', false]];
  if (type === 'boolean')
    return [
      ['true', true],
      ['false', true],
      ['maybe', false],
    ];
  if (type === 'integer') {
    return [
      [String(minimum), true],
      [String(maximum), true],
      [String(minimum! - 1), false],
      [String(maximum! + 1), false],
      ['1.5', false],
      ['x', false],
    ];
  }
  if (maxItems !== undefined) {
    const ids = (count: number) => Array.from({ length: count }, (_, at) => `t3_${at}`).join(',');
    return [
      [ids(maxItems), true],
      [ids(maxItems + 1), false],
      ['', false],
    ];
  }
  return maxLength === undefined
    ? []
    : [
        ['x'.repeat(maxLength), true],
        ['x'.repeat(maxLength + 1), false],
        ['', false],
      ];
}

describe('examples', () => {
  const valid = (content: Record<string, MediaType>, what: string) => {
    for (const [type, { schema, examples }] of Object.entries(content)) {
      expect(Object.keys(examples), what).not.toEqual([]);
      for (const [name, { value }] of Object.entries(examples)) {
        validate(document, schema, value, `${what} ${type} ${name}`);
      }
    }
  };

  test.each(operations)('of $name exist and are valid', ({ name, operation }) => {
    if (operation.requestBody !== undefined) valid(operation.requestBody.content, `${name} request`);
    for (const [status, response] of Object.entries(operation.responses)) {
      const { content } = resolved(document, response);
      if (content !== undefined) valid(content, `${name} ${status}`);
    }
  });
});

describe('webhooks', () => {
  const { post } = document.webhooks.monitorMatch!;
  const { schema, examples } = post.requestBody.content['application/json']!;
  const match = chatMatch({});
  const monitor = { id: match.monitor_id, name: 'a monitor' };
  const send = (secrets: readonly [string, ...string[]]) =>
    buildWebhookMessage({
      id: match.id,
      kind: 'generic',
      monitor,
      content: { type: 'monitor.match', match },
      secrets,
      now: 1_795_255_202_000,
    });

  test('are sent with the documented headers, also after a rotation', () => {
    const documented = post.parameters.map(({ name, in: place }) => {
      expect(place).toBe('header');
      return name;
    });
    const sent = (secrets: readonly [string, ...string[]]) =>
      Object.keys(send(secrets).headers).filter((name) => /^(x-service|webhook-)/i.test(name));
    for (const name of sent(['whsec_bmV3', 'whsec_b2xk'])) expect(documented).toContain(name);
    const required = post.parameters.filter(({ required: isRequired }) => isRequired).map(({ name }) => name);
    expect(sent(['whsec_bmV3']).sort()).toEqual(required.sort());
  });

  test('conform to its schema, and so does its example', () => {
    validate(document, schema, JSON.parse(send(['whsec_bmV3']).body.toString()), 'a webhook');
    for (const { value } of Object.values(examples)) {
      validate(document, schema, value, 'the example');
      webhookEvent.parse(value);
    }
  });
});
