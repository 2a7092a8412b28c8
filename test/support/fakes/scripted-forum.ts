import type { ExpandRequest } from '../../../services/api/reading/expand-comments.ts';
import type { UpstreamCall } from '../../../shared/forum-client/upstream-client.ts';

/** The frozen clock of a scripted forum. The deadline is 8 seconds later. */
export const NOW = 1_000_000;

/**
 * A forum with scripted answers by path; calls for children use `more a,b`. It records the requests and the maximum
 * number of concurrent calls.
 */
export class ScriptedForum {
  readonly asked: string[] = [];
  readonly calls: UpstreamCall[] = [];
  readonly params: Record<string, string>[] = [];
  maxConcurrent = 0;
  private open = 0;
  private readonly answers: (question: string) => unknown;

  constructor(answers: Record<string, unknown> | ((question: string) => unknown)) {
    this.answers = typeof answers === 'function' ? answers : (question) => answers[question];
  }

  get = (path: string, params: Record<string, string>, call: UpstreamCall): Promise<unknown> =>
    this.answer(path, params, call);
  post = (path: string, form: Record<string, string>, call: UpstreamCall): Promise<unknown> => {
    if (path !== '/api/morechildren') throw new Error(`a POST to ${path}`);
    return this.answer(`more ${form.children}`, form, call);
  };

  private async answer(question: string, params: Record<string, string>, call: UpstreamCall): Promise<unknown> {
    this.asked.push(question);
    this.params.push(params);
    this.calls.push(call);
    this.maxConcurrent = Math.max(this.maxConcurrent, ++this.open);
    // Later requests are answered sooner.
    for (let turn = this.asked.length; turn < 50; turn++) await Promise.resolve();
    this.open--;
    const found = this.answers(question);
    if (found === undefined) throw new Error(`not in the script: ${question}`);
    if (found instanceof Error) throw found;
    return found;
  }

  request(max: number, rest: Partial<ExpandRequest> = {}): ExpandRequest {
    const base = { upstream: this, clock: () => NOW, deadlineAt: NOW + 8_000, call: { lane: 'reading' as const } };
    return { ...base, postId: 'p0st', max, ...rest };
  }
}
