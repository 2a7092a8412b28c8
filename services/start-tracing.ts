import type { Config } from '../shared/runtime/config.ts';
import type { Lifecycle } from '../shared/runtime/lifecycle.ts';
import type { Tracing } from '../shared/tracing/tracing.ts';

/** Loads OpenTelemetry where a collector is named; elsewhere it costs neither time nor memory. */
export async function startTracing(deps: { config: Config; lifecycle: Lifecycle }): Promise<Tracing | undefined> {
  const { tracing } = deps.config;
  if (tracing === undefined) return undefined;
  const { createOtlpTracing } = await import('../shared/tracing/otlp-tracing.ts');
  return deps.lifecycle.add('tracing', createOtlpTracing(tracing));
}
