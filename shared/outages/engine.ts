export type EngineName = 'kafka' | 'postgres' | 'clickhouse';

const ENGINE = Symbol('engine');

/**
 * Marks an error with the engine whose client threw it, because a refused connection looks the same for all engines.
 *
 * @returns the error
 */
export function markEngine<T>(error: T, engine: EngineName): T {
  if (error instanceof Error) Object.defineProperty(error, ENGINE, { value: engine, configurable: true });
  return error;
}

/** The engine that markEngine marked the error with; undefined when it is not marked. */
export function markedEngine(error: unknown): EngineName | undefined {
  return error instanceof Error ? (error as { [ENGINE]?: EngineName })[ENGINE] : undefined;
}
