import { expect, test } from 'vitest';
import { parseTraceparent, traceHeaders, traceparentOf } from '../../../../shared/runtime/tracing.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test('reads a traceparent of a sampled trace', () => {
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-01`)).toEqual({ traceId: TRACE, spanId: SPAN });
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-03`)).toEqual({ traceId: TRACE, spanId: SPAN });
});

test.each([
  ['it is not sampled', `00-${TRACE}-${SPAN}-00`],
  ['the version is another', `01-${TRACE}-${SPAN}-01`],
  ['the trace is all zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['the span is all zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['it has upper case', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ['it has more parts', `00-${TRACE}-${SPAN}-01-x`],
  ['it is empty', ''],
])('ignores a traceparent when %s', (_why, text) => {
  expect(parseTraceparent(text)).toBeUndefined();
});

test('the header survives a Kafka record', () => {
  const traceparent = `00-${TRACE}-${SPAN}-01`;
  const { headers } = traceHeaders({ traceId: TRACE, traceparent, end: () => undefined });
  expect(traceparentOf({ traceparent: Buffer.from(headers!.traceparent) })).toBe(traceparent);
  expect(traceHeaders(undefined)).toEqual({});
  expect(traceparentOf({})).toBeUndefined();
});
