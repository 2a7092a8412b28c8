import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { expect, onTestFinished, test } from 'vitest';
import type { Caller } from '../../../../../services/api/admission/authentication.ts';
import { ApiError } from '../../../../../services/api/http/api-error.ts';
import { createDirectRoutes } from '../../../../../services/api/http/direct-routes.ts';
import type { Route } from '../../../../../services/api/http/route.ts';
import { routePattern } from '../../../../../services/api/http/route-pattern.ts';

const CALLER: Caller = { keyId: 'k', accountId: 'acc_1', scopes: [], balance: 1, pack: 0 };

function route(given: Partial<Route> & Pick<Route, 'path'>): Route {
  return {
    method: 'get',
    scope: 'forum:read',
    handle: ({ id }) => Promise.resolve({ status: 200, body: { path: given.path, id } }),
    ...given,
  };
}

const ROUTES = [
  route({ path: '/v1/forum/post', readsQuery: true }),
  route({ path: '/v1/monitors', scope: 'monitors:read' }),
  route({ path: '/v1/monitors', method: 'post', readsBody: true }),
  route({ path: '/v1/monitors/:id' }),
];

/** What a request to these routes got: the answer's body, the code of its error, or that it went on. */
async function served(refusal?: ApiError) {
  const admitted: string[] = [];
  const labels: string[] = [];
  const direct = createDirectRoutes(ROUTES, {
    admitTo: (scope) => {
      admitted.push(scope);
      return refusal === undefined ? Promise.resolve() : Promise.reject(refusal);
    },
    callerOf: () => CALLER,
  });
  const label: RequestHandler = (request, response, next) => {
    response.once('close', () => labels.push(routePattern(request)));
    next();
  };
  const fail: ErrorRequestHandler = (error, _request, response, _next) => {
    response.status(400).json((error as ApiError).code);
  };
  const app = express().use(label, direct, (_request, response) => {
    response.json('went on');
  });
  app.use(fail);
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ask = async (path: string, init: RequestInit = {}): Promise<unknown> => {
    const response = await fetch(url + path, init);
    return init.method === 'HEAD' ? response.headers.get('content-length') : response.json();
  };
  return { admitted, labels, ask };
}

test('the exact path of a route leads to it, with the permission that it declares', async () => {
  const { admitted, labels, ask } = await served();
  expect(await ask('/v1/forum/post?id=a')).toEqual({ path: '/v1/forum/post', id: '' });
  expect(await ask('/v1/monitors')).toEqual({ path: '/v1/monitors', id: '' });
  expect(admitted).toEqual(['forum:read', 'monitors:read']);
  expect(labels).toEqual(['/v1/forum/post', '/v1/monitors']);
});

test('all other spellings, paths with an id and other methods go on to the routers', async () => {
  const { admitted, ask } = await served();
  for (const path of ['/v1/forum/post/', '/V1/forum/post', '/v1/forum/%70ost', '/v1/monitors/mon_1', '/v1', '/']) {
    expect([path, await ask(path)]).toEqual([path, 'went on']);
  }
  for (const method of ['POST', 'DELETE']) expect(await ask('/v1/monitors', { method })).toBe('went on');
  expect(await ask('/v1/forum/post', { method: 'HEAD' })).toBe(String('"went on"'.length));
  expect(admitted).toEqual([]);
});

test('a refusal of the admission comes first, and counts for no route', async () => {
  const { labels, ask } = await served(new ApiError('unauthorized', 'no key'));
  expect(await ask('/v1/monitors?unknown=1')).toBe('unauthorized');
  expect(labels).toEqual(['none']);
});

test('then come the checks of the route', async () => {
  const { labels, ask } = await served();
  expect(await ask('/v1/monitors?unknown=1')).toBe('invalid_request');
  expect(await ask('/v1/monitors', { headers: { accept: 'text/html' } })).toBe('not_acceptable');
  expect(labels).toEqual(['/v1/monitors', '/v1/monitors']);
});
