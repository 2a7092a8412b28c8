import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { RequestHandler } from 'express';
import helmet from 'helmet';
import { expect, test } from 'vitest';
import { fixedHeaders } from '../../../../../services/api/http/fixed-headers.ts';

/** The headers of an answer, as they were sent, without those of every answer. */
async function headersWith(middleware: RequestHandler): Promise<[string, string][]> {
  const app = express().disable('x-powered-by').use(middleware);
  app.get('/', (_request, response) => {
    response.set('X-Own', 'set').end();
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  server.close();
  return [...response.headers].filter(([name]) => name !== 'date');
}

test('sets the headers of helmet and goes on to the route', async () => {
  const expected = await headersWith(helmet());
  expect(expected.length).toBeGreaterThan(10);
  expect(await headersWith(fixedHeaders(helmet()))).toEqual(expected);
});

test('runs the middleware once', async () => {
  let runs = 0;
  const counted: RequestHandler = (_request, response, next) => {
    response.setHeader('X-Run', String(++runs));
    next();
  };
  const fixed = fixedHeaders(counted);
  for (let turn = 0; turn < 3; turn++) expect(new Map(await headersWith(fixed)).get('x-run')).toBe('1');
});
