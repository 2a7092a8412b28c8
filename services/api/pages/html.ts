const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text that is already HTML. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** HTML with interpolated values. Values that are not Html are escaped, for text and for quoted attributes. */
export function html(parts: TemplateStringsArray, ...values: (string | Html | readonly Html[])[]): Html {
  const texts = values.map((value) => {
    if (typeof value === 'string') return value.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
    return value instanceof Html ? value.text : value.map(({ text }) => text).join('');
  });
  return new Html(parts.reduce((text, part, index) => text + texts[index - 1]! + part));
}

export const NO_HTML = new Html('');
