import fc from 'fast-check';
import { expect, test } from 'vitest';
import { monitorMatch } from '../../../../../schemas/messages/monitor-match.ts';
import { endEvent, HEARTBEAT, matchEvent, STREAM_BEGIN } from '../../../../../services/api/matches/live-tails.ts';
import { exampleOf } from '../../../../../services/api/openapi/json-schemas.ts';
import { EventStreamParser } from '../../../../support/clients/event-stream-parser.ts';

/** Parses the text in pieces of this many bytes. */
function parse(text: string, size = 1_000): EventStreamParser {
  const parser = new EventStreamParser();
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) parser.push(bytes.subarray(at, at + size));
  return parser;
}

test('any match is one event with the same content, wherever the bytes are split', () => {
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom('\n', '\r', '\u2028', '\0', ':'), fc.string({ unit: 'binary' })),
  });
  fc.assert(
    fc.property(text, text, fc.integer({ min: 1, max: 50 }), (title, body, size) => {
      const match = { ...exampleOf(monitorMatch), title, body };
      const parser = parse(STREAM_BEGIN + matchEvent(match) + HEARTBEAT + endEvent('key_revoked'), size);
      expect(parser.retry).toBe(3_000);
      expect(parser.events.map(({ id, type }) => [id, type])).toEqual([
        [match.id, 'match'],
        [match.id, 'end'],
      ]);
      const [sent, end] = parser.events.map(({ data }) => JSON.parse(data) as unknown);
      expect(sent).toEqual(JSON.parse(JSON.stringify(match)));
      expect(end).toEqual({ reason: 'key_revoked' });
    }),
  );
});
