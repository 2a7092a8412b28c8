import type { ErrorRequestHandler } from 'express';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { ApiError, ClientGone } from '../http/api-error.ts';
import { toApiError } from '../http/error-handler.ts';
import { html } from '../../../shared/html/html.ts';
import { sendShownPage } from './layout.ts';
import type { Frame, Viewer } from './layout.ts';

const TITLES: Readonly<Record<number, string>> = {
  400: 'This did not work',
  402: 'Not enough credits',
  403: 'Not allowed',
  404: 'There is no such page',
  429: 'Too many requests',
};

/** Shows what a page threw as a page. An unexpected error is logged, and the person sees the request's id only. */
export function showFailure(frame: Frame, logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (error instanceof ClientGone) return;
    // The log of requests and the client's event stream understand the API's own answer.
    if (response.headersSent || request.get('Accept')?.includes('text/event-stream') === true) {
      next(error);
      return;
    }
    const known = toApiError(error);
    const requestId = String(response.getHeader('X-Request-Id'));
    if (known === undefined) logger.error({ err: error, requestId }, 'a page failed');
    const refusal = known ?? new ApiError('internal_error', `Something broke on our side (request ${requestId}).`);
    response.set(refusal.headers);
    if (refusal.retryAfter !== undefined) response.set('Retry-After', String(refusal.retryAfter));
    const title = TITLES[refusal.status] ?? 'This does not work now';
    const content = html`<p role="alert">${refusal.message}</p>
      <p><a href="${frame.path('')}">To the overview</a></p>`;
    const viewer = response.locals.viewer as Viewer | undefined;
    sendShownPage(response, frame, { title, content, status: refusal.status }, viewer);
  };
}
