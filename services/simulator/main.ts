import { parseEnvironment } from './environment.ts';
import { startSimulator } from './simulator.ts';

const simulator = await startSimulator(parseEnvironment(process.env), () => Date.now());
let stopping = false;
const stop = (): void => {
  if (stopping) return;
  stopping = true;
  void simulator.stop().then(() => process.exit(0));
};
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
// Forked by a parent that died: nobody is left to stop this process.
process.on('disconnect', stop);
process.stdout.write(`${JSON.stringify({ simulator: simulator.url })}\n`);
process.send?.({ type: 'ready', url: simulator.url });
