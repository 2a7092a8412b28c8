import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { webhookEvent } from '../../../../../schemas/messages/webhook-event.ts';
import { buildOpenApiDocument } from '../../../../../services/api/openapi/build-openapi.ts';
import type { JsonSchema, MediaType } from '../../../../../services/api/openapi/openapi-shape.ts';
import { buildWebhookMessage } from '../../../../../shared/domain/webhooks/webhook-message.ts';
import { resolved, validate } from '../../../../support/oracles/openapi-checker.ts';
import { chatMatch } from '../../../../support/samples/chat-matches.ts';

const document = buildOpenApiDocument('https://api.example.com/base');
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

describe('examples', () => {
  const valid = (content: Record<string, MediaType>, what: string) => {
    for (const [type, { schema, examples }] of Object.entries(content)) {
      expect(Object.keys(examples), what).not.toEqual([]);
      for (const [name, { value }] of Object.entries(examples)) {
        validate(document, schema, value, `${what} ${type} ${name}`);
      }
    }
  };

  test('of parameters are valid', () => {
    for (const { name, operation } of operations) {
      for (const { name: parameter, schema, example } of operation.parameters) {
        if (example !== undefined) validate(document, schema, example, `${name} ${parameter}`);
      }
    }
  });

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
    buildWebhookMessage({ kind: 'generic', monitor, match, secrets, now: 1_795_255_202_000 });

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
