import { describe, expect, test } from 'vitest';
import { addressesOf, PostgresServers } from '../../../../shared/postgres/postgres-servers.ts';
import { loadConfig } from '../../../../shared/runtime/config.ts';

describe('addressesOf', () => {
  test.each([
    ['postgres://h/db', ['postgres://h/db']],
    ['postgres://u:p@h:1/db?sslmode=require', ['postgres://u:p@h:1/db?sslmode=require']],
    ['postgres:///db?host=/run,x', ['postgres:///db?host=/run,x']],
    ['postgres://u:p,q@h/db', ['postgres://u:p,q@h/db']],
    [
      'postgresql://u:p@a:1,b:2/db?sslmode=require',
      ['postgresql://u:p@a:1/db?sslmode=require', 'postgresql://u:p@b:2/db?sslmode=require'],
    ],
    ['postgres://a,,b/db', ['postgres://a/db', 'postgres://b/db']],
    ['postgres://a,[::1]:2,c/db', ['postgres://a/db', 'postgres://[::1]:2/db', 'postgres://c/db']],
  ])('%s', (url, addresses) => {
    expect(addressesOf(url)).toEqual(addresses);
    expect(loadConfig({ DATABASE_URL: url }).postgresUrl).toBe(url);
  });

  test.each(['mysql://a,b/db', 'postgres://a,b:0/db', 'postgres://a,b c/db'])('%s is refused', (url) => {
    expect(() => loadConfig({ DATABASE_URL: url })).toThrow('DATABASE_URL: must');
  });
});

describe('PostgresServers', () => {
  test('the next connection tries the next server once, however many connections failed', () => {
    const servers = new PostgresServers('postgres://a,b,c/db');
    expect(servers.current).toBe('postgres://a/db');
    servers.failed('postgres://a/db');
    servers.failed('postgres://a/db');
    expect(servers.current).toBe('postgres://b/db');
    servers.failed('postgres://b/db');
    servers.failed('postgres://c/db');
    expect(servers.current).toBe('postgres://a/db');
  });
});
