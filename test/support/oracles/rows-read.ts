import type { Queryable } from '../../../shared/postgres/pool.ts';

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Plan[];
}

/** What a statement read. */
export interface RowsRead {
  /** Rows that the scans of its tables returned or dropped. */
  rows: number;
  /** Each scan of a table: its kind, its table and its index. */
  scans: string[];
}

/** Runs a statement and reports what its scans of tables read, by EXPLAIN ANALYZE. */
export async function rowsRead(db: Queryable, text: string, values: readonly unknown[]): Promise<RowsRead> {
  const { rows } = await db.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, [
    ...values,
  ]);
  const scans = plansOf(rows[0]!['QUERY PLAN'][0]!.Plan).filter((plan) => plan['Relation Name'] !== undefined);
  return {
    rows: scans.reduce((sum, plan) => sum + readBy(plan), 0),
    scans: scans.map((plan) => [plan['Node Type'], plan['Relation Name'], plan['Index Name']].join(' ')),
  };
}

function plansOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(plansOf)];
}

/** The figures of a plan are means over its loops. */
function readBy(plan: Plan): number {
  const dropped = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0);
  return (plan['Actual Rows'] + dropped) * plan['Actual Loops'];
}
