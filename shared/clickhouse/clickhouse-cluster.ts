import { createHash } from 'node:crypto';

/** Statements that define something, with the name that `ON CLUSTER` follows. Mutations replicate by themselves. */
const DEFINITION =
  /^((?:CREATE (?:TABLE|DATABASE|MATERIALIZED VIEW) IF NOT EXISTS|CREATE OR REPLACE VIEW|ALTER TABLE) \w+\b)(?! DELETE\b)/;
const ENGINE = /\bENGINE = (?=(?:Replacing)?MergeTree\b)/;

/**
 * A statement of ours as a cluster of one shard needs it: executed on each replica, tables replicated, at the path that
 * the servers' settings give by default. Other statements stay as they are.
 *
 * @param cluster its name in the servers' settings, or `{cluster}` for their macro
 */
export function onCluster(statement: string, cluster: string): string {
  const onEach = statement.replace(DEFINITION, (definition) => `${definition} ON CLUSTER '${cluster}'`);
  return onEach === statement ? statement : onEach.replace(ENGINE, 'ENGINE = Replicated');
}

/**
 * Settings of an insert that may reach another replica when it is repeated: the same rows are stored once, also in the
 * tables that materialized views fill.
 */
export function insertOnce(values: unknown): Record<string, string | number> {
  const token = createHash('sha256').update(JSON.stringify(values)).digest('hex');
  return { insert_deduplication_token: token, deduplicate_blocks_in_dependent_materialized_views: 1 };
}
