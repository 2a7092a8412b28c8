import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Request, RequestHandler, Response } from 'express';

/**
 * Runs a middleware once, and sets on every answer the headers that it set. For one whose headers are the same for
 * every request, such as helmet with its defaults.
 */
export function fixedHeaders(middleware: RequestHandler): RequestHandler {
  const headers: Parameters<Response['setHeader']>[] = [];
  const request = new IncomingMessage(new Socket());
  const recorder = new ServerResponse(request);
  recorder.setHeader = (...header) => {
    headers.push(header);
    return recorder;
  };
  void middleware(request as Request, recorder as Response, () => undefined);
  return (_request, response, next) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    next();
  };
}
