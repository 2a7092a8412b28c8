/** The dashboard's path below its public address. */
const FOLDER = '/dashboard';

/** Where the dashboard is. */
export interface DashboardAddress {
  /** The path on this server: `/dashboard`. */
  mount: string;
  /** The path that browsers see, with the prefix of a proxy: `/app/dashboard`. */
  folder: string;
  isHttps: boolean;
  /** The full address, and its host. */
  url: string;
  publicHost: string;
}

/** @param dashboardUrl the public address without /dashboard and without a trailing slash */
export function dashboardAddress(dashboardUrl: string): DashboardAddress {
  const { pathname, protocol, host } = new URL(dashboardUrl);
  return {
    mount: FOLDER,
    folder: pathname.replace(/\/$/, '') + FOLDER,
    isHttps: protocol === 'https:',
    url: dashboardUrl + FOLDER,
    publicHost: host,
  };
}

const BELOW = /^\/(?:[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*)?$/;

/** A path below the dashboard as it came with a request; undefined unless it can lead nowhere else. */
export function pathBelow(given: string): string | undefined {
  return BELOW.test(given) && given.length <= 200 ? given : undefined;
}
