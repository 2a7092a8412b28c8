import type { Pool } from '../../../shared/postgres/pool.ts';

/** One line for every account, mailbox or sign-up that breaks an invariant. */
export async function signupFaults(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ fault: string }>(
    `SELECT 'account ' || a.id || ' has ' || count(k.id) || ' keys' AS fault
     FROM accounts a LEFT JOIN api_keys k ON k.account_id = a.id
     GROUP BY a.id HAVING count(k.id) <> 1
     UNION ALL
     SELECT 'account ' || a.id || ' has a balance of ' || a.balance || ', its ledger ' || coalesce(sum(l.amount), 0)
     FROM accounts a LEFT JOIN ledger_entries l ON l.account_id = a.id
     GROUP BY a.id HAVING a.balance <> coalesce(sum(l.amount), 0)
     UNION ALL
     SELECT 'account ' || a.id || ' has no limits'
     FROM accounts a WHERE NOT EXISTS (SELECT FROM account_limits WHERE account_id = a.id)
     UNION ALL
     SELECT 'mailbox ' || mailbox || ' has ' || count(*) || ' accounts'
     FROM accounts GROUP BY mailbox HAVING count(*) > 1
     UNION ALL
     SELECT (SELECT count(*) FROM credited_mailboxes) || ' mailboxes are credited, ' || count(*) || ' accounts got credits'
     FROM ledger_entries WHERE kind = 'grant' HAVING count(*) <> (SELECT count(*) FROM credited_mailboxes)
     UNION ALL
     SELECT 'a sign-up of ' || mailbox || ' has ' || wrong_codes || ' wrong codes' FROM signups WHERE wrong_codes > 3`,
  );
  return rows.map(({ fault }) => fault);
}
