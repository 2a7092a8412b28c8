import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { TestProject } from 'vitest/node';
import './provided-context.ts';

/**
 * Lets one end-to-end file run at a time, whatever the number of workers: each starts whole installations, and two of
 * them at once would starve each other on two cores. A file connects, waits for a byte (take-installation-slot.ts), and
 * gives the slot back by closing the connection, which also happens when its process dies.
 */
export default async function setup(project: TestProject): Promise<() => void> {
  const waiting: Socket[] = [];
  let current: Socket | undefined;
  const serveNext = () => {
    current = waiting.shift();
    current?.write('1');
  };
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      if (socket === current) serveNext();
      else waiting.splice(waiting.indexOf(socket), 1);
    });
    socket.resume();
    waiting.push(socket);
    if (current === undefined) serveNext();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  project.provide('installationSlotPort', (server.address() as AddressInfo).port);
  return () => void server.close();
}
