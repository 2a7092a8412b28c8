import { ConfigError } from '../shared/runtime/config.ts';

export const SERVICES = ['api', 'archiver', 'biller', 'crawler', 'deliverer', 'matcher', 'recorder'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** All when none is named. @throws ConfigError that lists the services when a name is unknown */
export function chooseServices(names: readonly string[]): ServiceName[] {
  const unknown = names.filter((name) => !SERVICES.some((service) => service === name));
  if (unknown.length > 0) {
    throw new ConfigError(`Unknown service ${unknown.join(', ')}. The services are: ${SERVICES.join(', ')}.`);
  }
  return names.length === 0 ? [...SERVICES] : SERVICES.filter((service) => names.includes(service));
}
