export type EngineName = 'kafka' | 'postgres' | 'clickhouse';

const ENGINE = Symbol('engine');

/**
 * Notes on an error which engine's client threw it: a refused connection looks alike for all of them. @returns the
 * error
 */
export function markEngine<T>(error: T, engine: EngineName): T {
  if (error instanceof Error) Object.defineProperty(error, ENGINE, { value: engine, configurable: true });
  return error;
}

/** What markEngine noted; undefined: nothing. */
export function markedEngine(error: unknown): EngineName | undefined {
  return error instanceof Error ? (error as { [ENGINE]?: EngineName })[ENGINE] : undefined;
}
