import { hostname } from 'node:os';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api';
import type { Context, Link, Span, SpanContext } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Running } from './lifecycle.ts';

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

const KINDS = {
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  client: SpanKind.CLIENT,
  server: SpanKind.SERVER,
} as const;
const EXPORT_EVERY_MS = 2_000;
const EXPORT_TIMEOUT_MS = 5_000;

/**
 * Sends spans to a collector by OTLP over HTTP in JSON, in batches. Spans that a collector does not take in time are
 * dropped: tracing never holds up the work.
 *
 * @param options.endpoint `/v1/traces` is appended
 * @param options.ratio the share of traces that are sampled, 0 to 1
 */
export function createOtlpTracing(options: { endpoint: string; ratio: number }): Tracing & Running {
  const exporter = new OTLPTraceExporter({
    url: `${options.endpoint.replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'forum-monitor',
      'service.instance.id': `${hostname()}-${process.pid}`,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.ratio) }),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: EXPORT_EVERY_MS })],
  });
  const tracer = provider.getTracer('forum-monitor');
  const start = (name: string, context: Context, { kind, links, ...rest }: SpanOptions): TraceSpan | undefined => {
    const span = tracer.startSpan(name, { ...rest, kind: KINDS[kind], links: (links ?? []).flatMap(toLink) }, context);
    return span.isRecording() ? toTraceSpan(span) : undefined;
  };
  return {
    begin: (name, spanOptions) => start(name, ROOT_CONTEXT, spanOptions),
    continue(name, traceparent, spanOptions) {
      const parent = traceparent === undefined ? undefined : remoteContext(traceparent);
      return parent && start(name, trace.setSpanContext(ROOT_CONTEXT, parent), spanOptions);
    },
    stop: () => provider.shutdown(),
  };
}

function toTraceSpan(span: Span): TraceSpan {
  const { traceId, spanId } = span.spanContext();
  return {
    traceId,
    traceparent: `00-${traceId}-${spanId}-01`,
    end({ attributes, error } = {}) {
      if (attributes) span.setAttributes(attributes);
      if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
      span.end();
    },
  };
}

function remoteContext(traceparent: string): SpanContext | undefined {
  const parsed = parseTraceparent(traceparent);
  return parsed && { ...parsed, traceFlags: TraceFlags.SAMPLED, isRemote: true };
}

function toLink(traceparent: string): Link[] {
  const context = remoteContext(traceparent);
  return context ? [{ context }] : [];
}
