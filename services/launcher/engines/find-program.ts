import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Returns the path of the first program of this name on PATH; `java` is looked up in JAVA_HOME/bin first. */
export function findProgram(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const javaHome = name === 'java' && env['JAVA_HOME'] ? [join(env['JAVA_HOME'], 'bin')] : [];
  const folders = [...javaHome, ...(env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
