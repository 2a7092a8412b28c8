function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The HTML of a Markdown text. It only splits paragraphs, because the product reads the Markdown. */
export function toHtml(markdown: string): string {
  const paragraphs = markdown.split('\n\n').map((paragraph) => `<p>${escapeHtml(paragraph)}</p>`);
  return `<div class="md">${paragraphs.join('\n\n')}\n</div>`;
}

export function selfTextHtml(markdown: string): string {
  return `<!-- SC_OFF -->${toHtml(markdown)}<!-- SC_ON -->`;
}

/** The last part of a permalink: lower-case words of the title, at most 50 characters; `_` if nothing remains. */
export function slugOf(title: string): string {
  const words = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_|_$/g, '');
  const slug = Array.from(words).slice(0, 50).join('').replace(/_$/, '');
  return slug === '' ? '_' : slug;
}
