// Runs at the end of an install with the Node that npm scripts use. That Node may be too old for TypeScript, so this
// file is plain JavaScript.
import { existsSync, readFileSync } from 'node:fs';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `npm scripts would run Node ${process.versions.node}, which is too old for this project (22.18 or newer is needed).\n` +
      'On Linux and macOS (x64 and arm64) the project brings its own Node as an optional dependency. npm leaves it out when\n' +
      'installing with --omit=optional, or when the downloaded file does not match the checksum in package-lock.json.\n' +
      'Install again without --omit=optional. On other platforms install Node 24.',
  );
  process.exitCode = 1;
} else if (
  !readFileSync(new URL('../node_modules/kafkajs/src/consumer/runner.js', import.meta.url), 'utf8').includes(
    'isStopped',
  )
) {
  console.error('kafkajs is installed without patches/kafkajs+2.2.4.patch, which must lie beside package.json.');
  process.exitCode = 1;
} else if (existsSync(new URL('../services/main.ts', import.meta.url))) {
  // Where only dependencies are installed, as for the image, there is nothing to compile.
  const { compileSources } = await import('../services/launcher/compile-sources.ts');
  compileSources();
}
