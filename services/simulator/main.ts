import { releaseMemory } from '../../shared/runtime/lifecycle.ts';
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
// The parent that forked this process has died, so nothing else would stop it.
process.on('disconnect', stop);
releaseMemory();
process.stdout.write(`${JSON.stringify({ simulator: simulator.url })}\n`);
process.send?.({ type: 'ready', url: simulator.url });
