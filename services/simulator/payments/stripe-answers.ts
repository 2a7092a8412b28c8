import type { Answer } from '../http/answer.ts';

/** An error in Stripe's shape. */
export function refusal(status: number, message: string, param?: string): Answer {
  const error = { type: 'invalid_request_error', message, ...(param === undefined ? {} : { param }) };
  return { status, body: { error } };
}

interface Listed {
  id: string;
  /** Seconds since the epoch. */
  created: number;
  type?: string;
  status?: string;
}

/** A page of a list in Stripe's shape, newest first, filtered by `created`, `types` and `status`. */
export function listOf(all: readonly Listed[], url: string, query: URLSearchParams): Answer {
  const from = Number(query.get('created[gte]') ?? 0);
  const to = Number(query.get('created[lte]') ?? Number.MAX_SAFE_INTEGER);
  const types = [...query].filter(([name]) => name.startsWith('types[')).map(([, type]) => type);
  const status = query.get('status') ?? undefined;
  const matching = all
    .filter(({ created }) => created >= from && created <= to)
    .filter((listed) => types.length === 0 || types.includes(listed.type ?? ''))
    .filter((listed) => status === undefined || listed.status === status)
    .toReversed();
  const after = query.get('starting_after');
  const begin = after === null ? 0 : matching.findIndex(({ id }) => id === after) + 1;
  const limit = Number(query.get('limit') ?? 10);
  const data = matching.slice(begin, begin + limit);
  return { status: 200, body: { object: 'list', url, data, has_more: matching.length > begin + limit } };
}
