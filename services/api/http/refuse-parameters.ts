import type { RequestHandler } from 'express';
import { printable, refuseFaults } from './invalid-request.ts';

/**
 * For routes without query parameters: refuses all, so that a client learns that its parameter has no effect.
 *
 * @throws ApiError invalid_request that names them
 */
export const refuseParameters: RequestHandler = (request, _response, next) => {
  refuseFaults(Object.keys(request.query).map((name) => ({ field: printable(name), message: 'is not known here' })));
  next();
};
