import type { ChargedRequest } from '../../../shared/stores/ledger/ledger.ts';
import type { Call, Route } from './route.ts';

/** Names the request in the ledger. A tool call has the route of its tool. */
export function chargedRequest(
  { caller, requestId }: Pick<Call, 'caller' | 'requestId'>,
  { method, path }: Pick<Route, 'method' | 'path'>,
): ChargedRequest {
  const route = `${method.toUpperCase()} ${path.replace(/:(\w+)/g, '{$1}')}`;
  return { requestId, route, keyId: caller.keyId };
}
