import { ConfigError } from '../shared/runtime/config.ts';

export const SERVICES = ['api', 'archiver', 'biller', 'crawler', 'deliverer', 'matcher', 'recorder'] as const;
export type ServiceName = (typeof SERVICES)[number];

export const USAGE = `npm start                   runs the whole installation
npm start -- SERVICE…       runs these services beside a running installation: ${SERVICES.join(', ')}

Settings are environment variables: PORT=8081 npm start. See docs/reference/configuration.md.`;

/** All when none is named. @throws ConfigError that lists the services when a name is unknown */
export function chooseServices(names: readonly string[]): ServiceName[] {
  const unknown = names.filter((name) => !SERVICES.some((service) => service === name));
  if (unknown.length > 0) {
    throw new ConfigError(
      `Unknown service ${unknown.join(', ')}. The services are: ${SERVICES.join(', ')}; --help says what can be given.`,
    );
  }
  return names.length === 0 ? [...SERVICES] : SERVICES.filter((service) => names.includes(service));
}
