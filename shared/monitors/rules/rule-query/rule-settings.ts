import type { Rule } from '../../../matching/rule.ts';

/** All of a monitor that its textual form says: everything but its name and its webhook. */
export interface RuleSettings extends Rule {
  /** At most one match a thread and day. */
  threadOnce: boolean;
}
