import { json } from 'express';
import type { RequestHandler } from 'express';
import { ApiError } from './api-error.ts';

const TYPES = ['application/json', 'application/*+json'];

/**
 * Reads a JSON body of at most `limit` bytes. Other types are refused; a request without a body passes to the route.
 */
export function jsonBody(limit: number): RequestHandler[] {
  const refuseOtherTypes: RequestHandler = (request, _response, next) => {
    // `is` returns null when there is no body at all.
    if (request.headers['content-length'] !== '0' && request.is(TYPES) === false) {
      throw new ApiError('unsupported_media_type', 'Send the body as JSON, with "Content-Type: application/json".');
    }
    next();
  };
  return [refuseOtherTypes, json({ limit, strict: false, type: TYPES })];
}
