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
import { parseTraceparent } from './tracing.ts';
import type { SpanOptions, TraceSpan, Tracing } from './tracing.ts';

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
