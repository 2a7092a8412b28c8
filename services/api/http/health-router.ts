import { Router } from 'express';
import { withDeadline } from '../../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { sharedResult } from '../../../shared/runtime/single-flight.ts';
import { refuseParameters } from './invalid-request.ts';
import { requestLogger } from './request-log.ts';
import { methodNotAllowed } from './route.ts';

export interface Readiness {
  ready: boolean;
  /** For each part, whether it answers. */
  parts: Record<string, boolean>;
}

/** A probe that takes longer than this counts as a part that does not answer. */
const PROBE_MS = 5_000;
/** Anyone may ask, and each check queries the engines, so concurrent checks share one result for this long. */
const FRESH_MS = 1_000;

/**
 * GET /healthz: 200 while the process runs. GET /readyz: 200 once every part answers, until then 503 with the parts
 * that do not.
 */
export function createHealthRouter(ready: () => Promise<Readiness>, logger: Logger): Router {
  const router = Router();
  const shared = sharedResult(
    () => withDeadline(ready(), PROBE_MS, 'the parts did not report in time whether they are ready'),
    FRESH_MS,
  );
  router.get('/healthz', refuseParameters, (_request, response) => {
    response.json({ status: 'ok' });
  });
  router.get('/readyz', refuseParameters, async (_request, response) => {
    let readiness: Readiness;
    try {
      readiness = await shared();
    } catch (error) {
      requestLogger(logger, response).warn({ err: error }, 'could not determine whether the service is ready');
      readiness = { ready: false, parts: {} };
    }
    response.status(readiness.ready ? 200 : 503).json(readiness);
  });
  router.all(['/healthz', '/readyz'], methodNotAllowed(['GET', 'HEAD']));
  return router;
}
