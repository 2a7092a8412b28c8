import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** The answer to a request. Status 0: the process ended before it answered. */
export interface ProcessReply {
  status: number;
  code: string | undefined;
  /** The cost in credits, as stated by the answer. */
  used: number;
  body: Record<string, unknown>;
}

/** An API in a separate process, which can be killed. */
export class ApiProcess {
  readonly url: string;
  private readonly child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.child = child;
    this.url = url;
  }

  /** @param limits default: limits that no test reaches */
  static async start(databaseUrl: string, limits?: 'plans'): Promise<ApiProcess> {
    const argument = JSON.stringify({ databaseUrl, ...(limits === undefined ? {} : { limits }) });
    const child = fork(join(import.meta.dirname, 'api-process-child.ts'), [argument]);
    const [{ url }] = (await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => Promise.reject(new Error('the API process ended'))),
    ])) as [{ url: string }];
    return new ApiProcess(child, url);
  }

  /** Never fails: an interrupted request has status 0. */
  async call(key: string, method: string, path: string, body?: object): Promise<ProcessReply> {
    try {
      const response = await fetch(this.url + path, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const answer = (await response.json()) as Record<string, unknown>;
      return {
        status: response.status,
        code: (answer.error as { code: string } | undefined)?.code,
        used: Number(response.headers.get('x-credits-used') ?? 0),
        body: answer,
      };
    } catch {
      return { status: 0, code: undefined, used: 0, body: {} };
    }
  }

  /** kill -9. */
  async kill(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }
}
