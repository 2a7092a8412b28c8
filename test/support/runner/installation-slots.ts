import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { TestProject } from 'vitest/node';
import './provided-context.ts';

/** So many end-to-end files run at a time, whatever the number of workers. */
export const SLOTS = 1;

/**
 * Lets only a few end-to-end files run at a time: each starts whole installations, and many of them at once would
 * starve each other on two cores. A file connects, waits for a byte (take-installation-slot.ts), and gives the slot
 * back by closing the connection, which also happens when its process dies.
 */
export default async function setup(project: TestProject): Promise<() => void> {
  const waiting: Socket[] = [];
  const running = new Set<Socket>();
  const serveNext = () => {
    while (running.size < SLOTS && waiting.length > 0) {
      const next = waiting.shift()!;
      running.add(next);
      next.write('1');
    }
  };
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      if (!running.delete(socket)) waiting.splice(waiting.indexOf(socket), 1);
      serveNext();
    });
    socket.resume();
    waiting.push(socket);
    serveNext();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  project.provide('installationSlotPort', (server.address() as AddressInfo).port);
  return () => void server.close();
}
