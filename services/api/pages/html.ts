const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** HTML with values in it: what is no HTML itself is escaped, for text and for attributes in quotes. */
export function html(parts: TemplateStringsArray, ...values: (string | Html | readonly Html[])[]): Html {
  const texts = values.map((value) => {
    if (typeof value === 'string') return value.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
    return value instanceof Html ? value.text : value.map(({ text }) => text).join('');
  });
  return new Html(parts.reduce((text, part, index) => text + texts[index - 1]! + part));
}

export const NO_HTML = new Html('');
