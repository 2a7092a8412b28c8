/** A sampled piece of work in a trace. One that is not sampled does not exist: callers hold undefined instead. */
export interface TraceSpan {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Hands the trace on, in the form of https://www.w3.org/TR/trace-context: version, trace, span, flags. */
  readonly traceparent: string;
  /** Call it once. An `error` marks the span as failed. */
  end: (outcome?: { attributes?: SpanAttributes; error?: string }) => void;
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  kind: 'producer' | 'consumer' | 'client' | 'server';
  attributes: SpanAttributes;
  /** Milliseconds since the epoch; default: now. */
  startTime?: number;
  /** `traceparent`s of spans that this one has to do with, but is not a part of. */
  links?: readonly string[];
}

/** Absent where tracing is off, so that nothing is computed for it. */
export interface Tracing {
  begin: (name: string, options: SpanOptions) => TraceSpan | undefined;
  /** Continues the trace of a `traceparent`. Without one, or if it is not sampled, there is no span. */
  continue: (name: string, traceparent: string | undefined, options: SpanOptions) => TraceSpan | undefined;
}

const NO_HEADERS = {};
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const SAMPLED = 1;

/** The parts of a `traceparent` of version 00; undefined when it is malformed or its trace is not sampled. */
export function parseTraceparent(text: string): { traceId: string; spanId: string } | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED ? { traceId, spanId } : undefined;
}

export function traceparentOf(headers: Readonly<Record<string, unknown>>): string | undefined {
  const { traceparent } = headers;
  if (Buffer.isBuffer(traceparent)) return traceparent.toString('latin1');
  return typeof traceparent === 'string' ? traceparent : undefined;
}

/** The header of a Kafka record or a request that hands on the trace; nothing without one. */
export function traceHeaders(span: TraceSpan | undefined): { headers?: { traceparent: string } } {
  return span === undefined ? NO_HEADERS : { headers: { traceparent: span.traceparent } };
}
