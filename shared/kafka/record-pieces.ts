import type { Message } from 'kafkajs';

/** A record ready to be sent, with its size on the wire. */
export interface SizedRecord {
  key: string;
  message: Message;
  bytes: number;
}

/** One record batch: a single partition's records, to be sent in one request. */
export interface Piece {
  topic: string;
  records: SizedRecord[];
  bytes: number;
}

/**
 * Cuts the records of a partition into pieces, in order. kafkajs makes one record batch of everything that a request
 * contains for a partition and never splits it, and a batch above the topic's max.message.bytes would always fail. A
 * record that is larger than the limit becomes a piece alone.
 */
export function cutPieces(topic: string, records: readonly SizedRecord[], maxPieceBytes: number): Piece[] {
  const pieces: Piece[] = [];
  let piece: Piece | undefined;
  for (const record of records) {
    if (!piece || piece.bytes + record.bytes > maxPieceBytes) {
      piece = { topic, records: [], bytes: 0 };
      pieces.push(piece);
    }
    piece.records.push(record);
    piece.bytes += record.bytes;
  }
  return pieces;
}

/**
 * Distributes the pieces of partitions over requests, in order: at most one piece per partition in a request (two would
 * become one batch), and at most `maxRequestBytes` unless a single piece is larger.
 */
export function layOutRequests(partitions: readonly Piece[][], maxRequestBytes: number): Piece[][] {
  const waiting = partitions.map((pieces) => pieces.values());
  let heads = waiting.map((pieces) => ({ pieces, next: pieces.next() })).filter(({ next }) => next.done !== true);
  const requests: Piece[][] = [];
  while (heads.length > 0) {
    const request: Piece[] = [];
    let bytes = 0;
    for (const head of heads) {
      if (head.next.done === true) continue;
      if (request.length > 0 && bytes + head.next.value.bytes > maxRequestBytes) continue;
      request.push(head.next.value);
      bytes += head.next.value.bytes;
      head.next = head.pieces.next();
    }
    requests.push(request);
    heads = heads.filter(({ next }) => next.done !== true);
  }
  return requests;
}
