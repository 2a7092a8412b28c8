import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

const id = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${2 * bytes}}$`));
const value = z.object({ stringValue: z.string() }).or(z.object({ intValue: z.union([z.number(), z.string()]) }));
const attribute = z.object({ key: z.string().min(1), value: value.or(z.object({ boolValue: z.boolean() })) });

const span = z.object({
  traceId: id(16),
  spanId: id(8),
  parentSpanId: id(8).optional(),
  name: z.string().min(1),
  kind: z.number().int().min(1).max(5),
  startTimeUnixNano: z.string().regex(/^\d{19}$/),
  endTimeUnixNano: z.string().regex(/^\d{19}$/),
  attributes: z.array(attribute),
  links: z.array(z.object({ traceId: id(16), spanId: id(8) })),
  status: z.object({ code: z.number().optional(), message: z.string().optional() }),
});

const exportRequest = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(attribute) }),
      scopeSpans: z.array(z.object({ spans: z.array(span) })),
    }),
  ),
});

export type ReceivedSpan = z.infer<typeof span>;

export interface OtlpReceiver {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string;
  spans: ReceivedSpan[];
  /** What did not fit the protocol. */
  faults: string[];
  stop(): Promise<void>;
}

/** A collector that takes ExportTraceServiceRequest in JSON at /v1/traces, as the OTLP specification has it. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const faults: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const isExport = request.method === 'POST' && request.url === '/v1/traces';
      if (!isExport || request.headers['content-type'] !== 'application/json') {
        faults.push(`${request.method ?? ''} ${request.url ?? ''} ${request.headers['content-type'] ?? ''}`);
        response.writeHead(400).end();
        return;
      }
      const read = exportRequest.safeParse(JSON.parse(Buffer.concat(chunks).toString()));
      if (read.success) {
        for (const { scopeSpans } of read.data.resourceSpans) spans.push(...scopeSpans.flatMap((scope) => scope.spans));
      } else faults.push(read.error.message);
      response.writeHead(read.success ? 200 : 400, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    faults,
    async stop() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}
