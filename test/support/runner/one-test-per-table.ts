/**
 * Vitest for mutation runs (stryker-vitest.config.ts puts it in the place of the package): `test.each` and
 * `describe.each` make one test of a table instead of one per row. Stryker chooses tests by name and keeps for each of
 * them what it covers, which takes far longer than the rows themselves when there are thousands of them.
 */
import * as vitest from 'vitest';

type Body = (...row: unknown[]) => unknown;

/** The tests of the row of a `describe.each` that is being read; undefined outside of one. */
let testsOfRow: (() => unknown)[] | undefined;

const asArguments = (row: unknown): unknown[] => (Array.isArray(row) ? (row as unknown[]) : [row]);

function addTest(name: string, test: () => unknown): void {
  if (testsOfRow) testsOfRow.push(test);
  else vitest.test(name, test);
}

function testsIn(describeRow: () => unknown): (() => unknown)[] {
  const outer = testsOfRow;
  const tests: (() => unknown)[] = [];
  testsOfRow = tests;
  try {
    describeRow();
  } finally {
    testsOfRow = outer;
  }
  return tests;
}

function testEach(table: readonly unknown[]): (name: string, body: Body) => void {
  return (name, body) => {
    addTest(name, async () => {
      for (const row of table) await body(...asArguments(row));
    });
  };
}

function describeEach(table: readonly unknown[]): (name: string, body: Body) => void {
  return (name, body) => {
    addTest(name, async () => {
      for (const row of table) for (const test of testsIn(() => body(...asArguments(row)))) await test();
    });
  };
}

function addSuite(name: string, body: () => void): void {
  if (testsOfRow) body();
  else vitest.describe(name, body);
}

export * from 'vitest';
export const test = Object.assign(addTest, { each: testEach });
export const describe = Object.assign(addSuite, { each: describeEach });
