import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../schemas');
/** The schemas of the first release, which no rolling upgrade has to pass. */
const LAST_FREE = '0001';
type Engine = 'postgres' | 'clickhouse';

/** A file that takes away what no release reads or writes any more says since which migration that is so. */
const CONTRACT = /^-- contract: nothing has used it since \d{4}/m;

/** What breaks processes of the release before, unless it is a contract. */
const TAKES_AWAY = /\b(DROP (TABLE|COLUMN|VIEW|FUNCTION|TYPE|SCHEMA)|RENAME|TRUNCATE)\b/i;
const BREAKS: readonly { what: string; pattern: RegExp; engine?: Engine }[] = [
  { what: 'changes the type of a column', pattern: /\bALTER (COLUMN )?\w+ (SET DATA )?TYPE\b/i },
  { what: 'changes the type of a column', pattern: /\bMODIFY COLUMN\b(?!.*\bCOMMENT\b)/i, engine: 'clickhouse' },
  { what: 'requires a value that writers of before do not give', pattern: /\bSET NOT NULL\b/i },
  {
    what: 'requires a value that writers of before do not give',
    pattern: /\bADD COLUMN\b(?!.*\b(DEFAULT|GENERATED)\b).*\bNOT NULL\b/i,
  },
  { what: 'reads a whole table under a lock: add NOT VALID', pattern: /\bADD CONSTRAINT\b(?!.*\bNOT VALID\b)/i },
  { what: 'rewrites the table under a lock', pattern: /\b(VACUUM FULL|CLUSTER|SET (UN)?LOGGED|SET TABLESPACE)\b/i },
];
const INDEX = /\bCREATE (UNIQUE )?INDEX (?!CONCURRENTLY\b).*?\bON (\w+)/i;

/** The statements of a file on one line each, without comments; what a function's body does is not checked. */
function statementsOf(text: string): string[] {
  return text
    .replace(/--.*$/gm, '')
    .replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''")
    .split(';')
    .flatMap((statement) => {
      const line = statement.replace(/\s+/g, ' ').trim();
      // The actions of one ALTER TABLE are checked one by one.
      return /^ALTER TABLE/i.test(line) ? line.split(/,(?![^(]*\))/) : [line];
    })
    .filter((line) => line !== '');
}

/** Why processes of the release before cannot work on, or wait for long, while this file is applied. */
function faultsOf(engine: Engine, text: string): string[] {
  const statements = statementsOf(text);
  const created = new Set(statements.map((line) => /CREATE TABLE (?:IF NOT EXISTS )?(\w+)/i.exec(line)?.[1]));
  const altered = new Set(statements.map((line) => /ALTER TABLE (?:IF EXISTS )?(?:ONLY )?(\w+)/i.exec(line)?.[1]));
  const locked = [...altered].filter((table) => table !== undefined && !created.has(table));
  const deadlocks =
    engine === 'postgres' && locked.length > 1
      ? [`locks several tables in one transaction, use a file for each: ${locked.join(', ')}`]
      : [];
  const faults = statements.flatMap((line) => {
    const index = engine === 'postgres' ? INDEX.exec(line)?.[2] : undefined;
    return [
      ...(TAKES_AWAY.test(line) && !CONTRACT.test(text) ? [`takes away: ${line}`] : []),
      ...(index !== undefined && !created.has(index) ? [`blocks writers, without CONCURRENTLY: ${line}`] : []),
      ...BREAKS.filter((rule) => (rule.engine ?? engine) === engine && rule.pattern.test(line)).map(
        ({ what }) => `${what}: ${line}`,
      ),
    ];
  });
  return [...deadlocks, ...faults];
}

describe.each(['postgres', 'clickhouse'] as const)('migrations of %s', (engine) => {
  test('later ones leave processes of the release before at work', () => {
    const later = readdirSync(join(ROOT, engine)).filter(
      (file) => /^\d{4}_.*\.(sql|js)$/.test(file) && file.slice(0, 4) > LAST_FREE,
    );
    const faults = later.flatMap((file) =>
      faultsOf(engine, readFileSync(join(ROOT, engine, file), 'utf8')).map((fault) => `${file} ${fault}`),
    );
    expect(faults).toEqual([]);
  });
});

test.each([
  'ALTER TABLE monitors DROP COLUMN name;',
  'DROP TABLE packs_bought;',
  'ALTER TABLE monitors RENAME COLUMN name TO title;',
  'ALTER TABLE monitors RENAME TO watches;',
  'ALTER TABLE monitors ADD COLUMN a int DEFAULT 1, ADD COLUMN b text NOT NULL;',
  'ALTER TABLE monitors ALTER COLUMN name SET NOT NULL;',
  'ALTER TABLE monitors ALTER COLUMN name TYPE varchar(80);',
  'ALTER TABLE monitors ALTER name TYPE varchar(80);',
  'ALTER TABLE monitors ADD CONSTRAINT named CHECK (name <> $$;$$);',
  'CREATE INDEX monitors_name ON monitors (name);',
  'CREATE UNIQUE INDEX IF NOT EXISTS monitors_name\n  ON monitors (name);',
  'TRUNCATE leases;',
  'VACUUM FULL matches;',
  'ALTER TABLE monitors ADD COLUMN a int;\nALTER TABLE accounts ADD COLUMN a int;',
])('refused: %s', (text) => {
  expect(faultsOf('postgres', text)).toHaveLength(1);
});

test('refused in ClickHouse: another type of a column', () => {
  expect(faultsOf('clickhouse', 'ALTER TABLE items MODIFY COLUMN score Int64;')).toHaveLength(1);
});

test.each([
  'ALTER TABLE monitors ADD COLUMN a int, ADD COLUMN b text NOT NULL DEFAULT $$;$$;',
  'ALTER TABLE monitors ADD CONSTRAINT named CHECK (name <> $$$$) NOT VALID;',
  'CREATE TABLE notes (id int PRIMARY KEY, text text NOT NULL);\nCREATE INDEX notes_text ON notes (text);',
  "pgm.sql('CREATE INDEX CONCURRENTLY monitors_name ON monitors (name)');",
  '-- The column is not dropped.\nALTER TABLE monitors VALIDATE CONSTRAINT named;',
  '-- contract: nothing has used it since 0002\nALTER TABLE monitors DROP COLUMN title;',
])('allowed: %s', (text) => {
  expect(faultsOf('postgres', text)).toEqual([]);
});
