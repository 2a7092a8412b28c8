import { describe, expect, test } from 'vitest';
import { kafkaProperties } from '../../../../../../services/launcher/engines/kafka/kafka-properties.ts';

describe('kafkaProperties', () => {
  const properties = new Map(
    kafkaProperties({ port: 21_001, controllerPort: 21_002, credential: { user: 'forum', password: 'p' } })
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/) as [string, string]),
  );

  test('sets every replication factor to 1', () => {
    for (const [name, value] of properties) {
      if (/replication\.factor$|min\.isr$/.test(name)) expect([name, value]).toEqual([name, '1']);
    }
    expect([...properties.keys()].filter((name) => name.endsWith('replication.factor'))).toHaveLength(4);
  });

  test('requires the password on both listeners', () => {
    expect(properties.get('listener.security.protocol.map')).toBe('CLIENT:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT');
    for (const listener of ['client', 'controller']) {
      expect(properties.get(`listener.name.${listener}.plain.sasl.jaas.config`)).toContain('user_forum="p";');
    }
  });

  test('listens on loopback only', () => {
    for (const address of properties.get('listeners')!.split(',')) expect(address).toContain('://127.0.0.1:');
  });
});
