import type { Operation } from '../openapi/openapi-shape.ts';

export interface ExampleRequest {
  method: string;
  /** With `{id}` for parameters of the path. */
  url: string;
  operation: Operation;
  body: unknown;
  /** The media type of the answer. */
  type: string | undefined;
}

/** One request in the three forms that readers start from, as Markdown. The key is in the environment, as KEY. */
export function codeExamples(request: ExampleRequest): string {
  const forms = [
    ['sh', curl(request)],
    ['js', node(request)],
    ['python', python(request)],
  ] as const;
  return forms.map(([language, code]) => `\`\`\`${language}\n${code}\n\`\`\``).join('\n\n');
}

const isStream = ({ type }: ExampleRequest) => type === 'text/event-stream';
const isJson = ({ type }: ExampleRequest) => type?.includes('json') === true;
const needsKey = ({ operation }: ExampleRequest) => operation.security.length > 0;

/** The address with the example's parameters: those of the path, and those of the query that have an example. */
function addressOf({ url, operation }: ExampleRequest): string {
  let path = url;
  const query = new URLSearchParams();
  for (const { name, in: place, example } of operation.parameters) {
    if (example === undefined) continue;
    const value = Array.isArray(example) ? example.join(',') : JSON.stringify(example).replaceAll('"', '');
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
    if (place === 'query') query.set(name, value);
  }
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

function curl(request: ExampleRequest): string {
  const method = request.method.toUpperCase();
  const lines = [
    `curl -s${isStream(request) ? 'N' : ''}${method === 'GET' ? '' : ` -X ${method}`} ${shellText(addressOf(request))}`,
    ...(needsKey(request) ? ['-H "Authorization: Bearer $KEY"'] : []),
    ...(request.body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${shellText(JSON.stringify(request.body))}`]),
  ];
  return lines.join(' \\\n  ');
}

const shellText = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

function node(request: ExampleRequest): string {
  const method = request.method.toUpperCase();
  const headers = [
    ...(needsKey(request) ? ['    authorization: `Bearer ${process.env.KEY}`,'] : []),
    ...(request.body === undefined ? [] : ["    'content-type': 'application/json',"]),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(headers.length === 0 ? [] : ['  headers: {', ...headers, '  },']),
    ...(request.body === undefined
      ? []
      : [`  body: JSON.stringify(${literal(request.body, JSON_WORDS).replaceAll('\n', '\n  ')}),`]),
  ];
  const address = `'${addressOf(request)}'`;
  const sent =
    options.length === 0
      ? [`const response = await fetch(${address});`]
      : [`const response = await fetch(${address}, {`, ...options, '});'];
  const read = isStream(request)
    ? ['for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) process.stdout.write(chunk);']
    : [`console.log(await response.${isJson(request) ? 'json' : 'text'}());`];
  return [...sent, ...read].join('\n');
}

function python(request: ExampleRequest): string {
  const method = request.method.toUpperCase();
  const headers = [
    ...(needsKey(request) ? [`"Authorization": f"Bearer {os.environ['KEY']}"`] : []),
    ...(request.body === undefined ? [] : ['"Content-Type": "application/json"']),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`    method="${method}",`]),
    ...(headers.length === 0 ? [] : [`    headers={${headers.join(', ')}},`]),
    ...(request.body === undefined
      ? []
      : [`    data=json.dumps(${literal(request.body, PYTHON_WORDS).replaceAll('\n', '\n    ')}).encode(),`]),
  ];
  const needed = [
    ...(isJson(request) || request.body !== undefined ? ['json'] : []),
    ...(needsKey(request) ? ['os'] : []),
    'urllib.request',
  ];
  const read = isStream(request)
    ? ['for line in urllib.request.urlopen(request):', '    print(line.decode(), end="")']
    : [
        `print(${isJson(request) ? 'json.load(urllib.request.urlopen(request))' : 'urllib.request.urlopen(request).read().decode()'})`,
      ];
  return [
    `import ${needed.join(', ')}`,
    '',
    'request = urllib.request.Request(',
    `    ${JSON.stringify(addressOf(request))},`,
    ...options,
    ')',
    ...read,
  ].join('\n');
}

const JSON_WORDS = { true: 'true', false: 'false', null: 'null' };
const PYTHON_WORDS = { true: 'True', false: 'False', null: 'None' };
const LINE_LENGTH = 80;

/** JSON with short objects and lists in one line. */
export const jsonText = (value: unknown): string => literal(value, JSON_WORDS);

/** A JSON value as a literal of JavaScript or Python, in one line where it fits. JSON's strings are valid in both. */
function literal(value: unknown, words: Record<'true' | 'false' | 'null', string>, indent = ''): string {
  if (typeof value === 'boolean' || value === null) return words[String(value) as keyof typeof words];
  if (typeof value !== 'object') return JSON.stringify(value);
  const deeper = `${indent}  `;
  const members = Array.isArray(value)
    ? value.map((member) => literal(member, words, deeper))
    : Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${literal(member, words, deeper)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const line = `${open}${members.join(', ')}${close}`;
  if (indent.length + line.length <= LINE_LENGTH && !line.includes('\n')) return line;
  return `${open}\n${members.map((member) => deeper + member).join(',\n')}\n${indent}${close}`;
}
