import { readFileSync } from 'node:fs';

/** A program that receives the webhooks of a monitor and verifies their signatures. It listens on port 9000. */
export interface ReceiverCode {
  language: string;
  file: string;
  command: string;
  code: string;
}

const readReceiver = (language: string): string =>
  readFileSync(new URL(`../assets/receiver-${language}.txt`, import.meta.url), 'utf8');
const [NODE, PYTHON] = ['node', 'python'].map(readReceiver) as [string, string];

/** The examples of the documentation, which tests run, with the monitor's name and address. */
export function receiverCode(monitor: { name: string; webhookUrl: string | null }): ReceiverCode[] {
  const about = `Receives the matches of ${onOneLine(monitor.name)}`;
  const at = monitor.webhookUrl === null ? '' : ` at ${onOneLine(withoutPath(monitor.webhookUrl))}`;
  return [
    {
      language: 'Node',
      file: 'receiver.mjs',
      command: 'WEBHOOK_SECRET=whsec_… node receiver.mjs',
      code: `// ${about}${at}\n${NODE}`,
    },
    {
      language: 'Python',
      file: 'receiver.py',
      command: 'WEBHOOK_SECRET=whsec_… python3 receiver.py',
      code: `# ${about}${at}\n${PYTHON}`,
    },
  ];
}

/** So that no name ends the comment that it stands in. */
function onOneLine(text: string): string {
  return text.replace(/[\p{C}\u2028\u2029]/gu, ' ');
}

/** The path of a webhook may be a secret. */
function withoutPath(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}
