import { expect, test } from 'vitest';
import { transportSecurity } from '../../../../shared/postgres/postgres-servers.ts';
import type { TransportSecurity } from '../../../../shared/postgres/postgres-servers.ts';

test.each<[options: string, security: TransportSecurity]>([
  ['', 'none'],
  ['?sslmode=disable', 'none'],
  ['?sslmode=no-verify', 'unverified'],
  ['?sslmode=prefer', 'verified'],
  ['?sslmode=require', 'verified'],
  ['?sslmode=verify-full', 'verified'],
  ['?sslmode=verify-full&sslmode=disable', 'none'],
  ['?sslmode=disable&sslrootcert=/ca.pem', 'none'],
  ['?sslmode=prefer&uselibpqcompat=true', 'unverified'],
  ['?sslmode=require&uselibpqcompat=true', 'unverified'],
  ['?sslmode=require&uselibpqcompat=true&sslrootcert=/ca.pem', 'verified'],
  ['?ssl=true', 'verified'],
  ['?ssl=false', 'none'],
  ['?ssl=no-verify', 'unverified'],
  ['?sslrootcert=/ca.pem', 'verified'],
  ['?ssl=0&sslrootcert=/ca.pem', 'verified'],
])('the options "%s" mean %s', (options, security) => {
  expect(transportSecurity(new URL(`postgres://u:p@db.example.com/d${options}`))).toBe(security);
});
