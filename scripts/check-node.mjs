// Runs at the end of an install, with the Node that npm scripts use, which may be too old for the rest: plain
// JavaScript.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `npm scripts would run Node ${process.versions.node}, which cannot run this project.\n` +
      'Its own Node is an optional dependency for Linux and macOS on x64 and arm64: npm leaves it out when it is installed with\n' +
      '--omit=optional, or when the file fetched does not have the checksum in package-lock.json. Elsewhere install Node 24.',
  );
  process.exitCode = 1;
}
