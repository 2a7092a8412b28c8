import { ClickHouseError } from '@clickhouse/client';
import { markedEngine } from '../outages/engine.ts';
import { isNetworkFault } from '../outages/network-fault.ts';

/**
 * ClickHouse's codes for what is wrong with a statement or its data, on every node and at any time. All others pass by
 * themselves or by an operator's hand: a full disk (243), a missing table or database on a node that is behind (60,
 * 81), credentials that change (516), and whatever a later version adds.
 */
const OURS = new Set([
  // The statement cannot be read.
  ...['36', '37', '62', '78', '80', '123', '167', '168', '211', '223', '229'],
  // It names what does not exist, or names it twice.
  ...['7', '8', '9', '10', '15', '16', '20', '46', '47', '50', '51', '52', '56', '57', '63', '66', '73', '115', '152'],
  ...['174', '179', '207', '336', '352', '403', '456', '457'],
  // Functions that do not take what they get.
  ...['34', '35', '42', '43', '44', '69', '184', '215', '386', '395', '427'],
  // Values that are not of their column's type.
  ...[
    '6',
    '19',
    '25',
    '26',
    '27',
    '38',
    '41',
    '53',
    '70',
    '72',
    '117',
    '130',
    '321',
    '349',
    '376',
    '377',
    '407',
    '441',
  ],
  ...['467', '675', '676'],
  // Constraints, settings, and what this server cannot do at all.
  ...['48', '344', '392', '450', '452', '469', '471', '549'],
]);

/**
 * True when ClickHouse is away, starting, slow, full or behind, so that the same statement may succeed later. An answer
 * that ClickHouse did not write, as a load balancer's page, counts as away; errors of its client are told by
 * `createClickhouse`'s mark.
 */
export function isClickhouseAway(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isClickhouseAway);
  if (!(error instanceof Error) || (markedEngine(error) ?? 'clickhouse') !== 'clickhouse') return false;
  if (error instanceof ClickHouseError) return !OURS.has(error.code);
  if (isNetworkFault(error)) return true;
  // Its client tells of silence in words only, and makes a plain Error of any answer that does not look like
  // ClickHouse's.
  return markedEngine(error) === 'clickhouse' && Object.getPrototypeOf(error) === Error.prototype;
}
