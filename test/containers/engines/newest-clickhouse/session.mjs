/**
 * Stands in for the npm package chdb: its `Session`, as far as the embedded engine uses it, with the engine of PyPI's
 * chdb-core, whose library offers its functions to Python alone.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

let engine;
let ids = 0;
const asked = new Map();

function startEngine(directory, args) {
  const options = args.map((argument) => argument.replace('--', '')).join('&');
  engine = spawn('python3', [join(import.meta.dirname, 'engine.py'), directory, options], {
    env: { ...process.env, PYTHONPATH: join(import.meta.dirname, 'wheel') },
    stdio: ['pipe', 'inherit', 'inherit', 'pipe'],
  });
  engine.once('exit', (code) => {
    process.exit(code ?? 1);
  });
  let received = Buffer.alloc(0);
  engine.stdio[3].on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    for (let end = received.indexOf(10); end !== -1; end = received.indexOf(10)) {
      const answer = JSON.parse(received.subarray(0, end).toString());
      if (received.length < end + 1 + answer.length) return;
      const bytes = Buffer.from(received.subarray(end + 1, end + 1 + answer.length));
      received = received.subarray(end + 1 + answer.length);
      const { resolve, reject } = asked.get(answer.id);
      asked.delete(answer.id);
      if (answer.error === undefined) resolve({ ...answer, bytes: () => bytes, text: () => bytes.toString() });
      else reject(new Error(answer.error));
    }
  });
}

export class Session {
  #number = (ids += 1);

  constructor(directory, { connectionArgs = [] } = {}) {
    if (engine === undefined) startEngine(directory, connectionArgs);
  }

  queryAsync(sql, { format = 'CSV' } = {}) {
    const id = (ids += 1);
    const answered = Promise.withResolvers();
    asked.set(id, answered);
    engine.stdin.write(`${JSON.stringify({ id, session: this.#number, sql, format })}\n`);
    return answered.promise;
  }

  close() {
    engine.stdin.write(`${JSON.stringify({ session: this.#number })}\n`);
  }
}
