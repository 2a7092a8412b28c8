import type { LookupFunction, Socket } from 'node:net';
import { buildConnector } from 'undici';
import type { AddressLookup } from './address-lookup.ts';
import { addressLiteral } from './public-address.ts';
import type { ProxyTunnel } from './proxy-tunnel.ts';

export class BlockedAddressError extends Error {
  override name = 'BlockedAddressError';
}

export class UnresolvedNameError extends Error {
  override name = 'UnresolvedNameError';
}

export interface ConnectorDeps {
  lookup: AddressLookup;
  isAllowed: (ip: string) => boolean;
  tunnel: ProxyTunnel | undefined;
  /** For the connection and the TLS handshake, in milliseconds. */
  timeoutMs: number;
}

/**
 * Creates a connector that connects only to allowed addresses. A name is resolved once per connection and refused when
 * any of its addresses is not allowed. The connection goes to one of exactly those addresses, so the result of a later
 * lookup does not matter. The peer address of the socket is checked before a request is written to it.
 */
export function createCheckedConnector(options: ConnectorDeps): buildConnector.connector {
  const plain = buildConnector({ allowH2: false, timeout: options.timeoutMs, lookup: checkedLookup(options) });
  return (target, callback) => {
    const literal = targetLiteral(target);
    if (literal !== undefined && !options.isAllowed(literal)) {
      callback(new BlockedAddressError(`${literal} is not a public address`), null);
    } else if (options.tunnel) {
      connectThroughTunnel(target, options, options.tunnel, plain).then(
        (socket) => {
          callback(null, socket);
        },
        (error: unknown) => {
          callback(error as Error, null);
        },
      );
    } else {
      plain(target, (...[error, socket]) => {
        if (error) callback(error, null);
        else checkPeer(socket, options.isAllowed, callback);
      });
    }
  };
}

function targetLiteral(target: buildConnector.Options): string | undefined {
  return addressLiteral(new URL(`${target.protocol}//${target.host ?? target.hostname}`));
}

function checkPeer(socket: Socket, isAllowed: (ip: string) => boolean, callback: buildConnector.Callback): void {
  const peer = socket.remoteAddress;
  if (peer !== undefined && isAllowed(peer)) {
    callback(null, socket);
    return;
  }
  socket.destroy();
  callback(new BlockedAddressError(`the peer address ${peer ?? '(none)'} is not a public address`), null);
}

async function connectThroughTunnel(
  target: buildConnector.Options,
  options: ConnectorDeps,
  tunnel: ProxyTunnel,
  plain: buildConnector.connector,
): Promise<Socket> {
  const address = targetLiteral(target) ?? (await resolveAllowed(target.hostname, options))[0]!;
  const port = Number(target.port || (target.protocol === 'https:' ? 443 : 80));
  const socket = await tunnel.open(address, port);
  if (target.protocol !== 'https:') return socket;
  return new Promise((resolve, reject) => {
    plain({ ...target, httpSocket: socket }, (...[error, secured]) => {
      if (error) reject(error);
      else resolve(secured);
    });
  });
}

function checkedLookup(options: ConnectorDeps): LookupFunction {
  return (hostname, _, callback) => {
    resolveAllowed(hostname, options).then(
      (addresses) => {
        callback(
          null,
          addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
        );
      },
      (error: unknown) => {
        callback(error as Error, []);
      },
    );
  };
}

async function resolveAllowed(hostname: string, options: ConnectorDeps): Promise<string[]> {
  let addresses: string[];
  try {
    addresses = await options.lookup(hostname);
  } catch (error) {
    throw new UnresolvedNameError(`${hostname} does not resolve`, { cause: error });
  }
  if (addresses.length === 0) throw new UnresolvedNameError(`${hostname} has no address`);
  const refused = addresses.find((address) => !options.isAllowed(address));
  if (refused !== undefined)
    throw new BlockedAddressError(`${hostname} resolves to ${refused}, which is not a public address`);
  return addresses;
}
