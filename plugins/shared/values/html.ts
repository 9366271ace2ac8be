const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes a text for the content and the quoted attributes of HTML. Invalid Unicode is replaced. */
export function escapeHtml(text: string): string {
  return text.toWellFormed().replace(/[&<>"']/g, (mark) => entities[mark]!);
}
