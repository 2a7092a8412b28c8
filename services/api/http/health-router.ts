import { Router } from 'express';
import { withDeadline } from '../../../shared/runtime/lifecycle.ts';
import { sharedResult } from '../../../shared/runtime/shared-result.ts';
import { methodNotAllowed } from './route.ts';

export interface Readiness {
  ready: boolean;
  /** Each part of the service, true when it answers. */
  parts: Record<string, boolean>;
}

/** A probe that takes longer than this is a part that does not answer. */
const PROBE_MS = 5_000;
/** Anybody may ask, and each check asks the engines: askers share one, whose answer is good for so long. */
const FRESH_MS = 1_000;

/**
 * GET /healthz: the process is alive. GET /readyz: 200 once everything answers, until then 503 with the parts that do
 * not.
 */
export function createHealthRouter(ready: () => Promise<Readiness>): Router {
  const router = Router();
  const shared = sharedResult(
    () => withDeadline(ready(), PROBE_MS, 'the parts did not say in time whether they are ready'),
    FRESH_MS,
  );
  router.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' });
  });
  router.get('/readyz', async (request, response) => {
    let readiness: Readiness;
    try {
      readiness = await shared();
    } catch (error) {
      request.log.warn({ err: error }, 'readiness is unknown');
      readiness = { ready: false, parts: {} };
    }
    response.status(readiness.ready ? 200 : 503).json(readiness);
  });
  router.all(['/healthz', '/readyz'], methodNotAllowed(['GET', 'HEAD']));
  return router;
}
