/** Decides whether a URL matches the URL pattern of a mock. */
export type MatchesUrl = (url: string) => boolean;

/**
 * Compiles the URL of a mock. Texts between wildcards are searched from left to right, so that matching takes linear time
 * for each of them, whatever the pattern.
 */
export function urlPattern(pattern: string): MatchesUrl {
  const parts = pattern.split(/(\*+)/).map((part, at) => (at % 2 ? { isDeep: part.length > 1 } : part));
  const hasHost = !pattern.startsWith('/') && !pattern.startsWith('*');
  const hasQuery = pattern.includes('?');
  return (url) => {
    const plain = hasQuery ? url : url.replace(/\?.*$/s, '');
    return matches(parts, hasHost ? plain : plain.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?]*/i, '') || '/');
  };
}

type Part = string | { readonly isDeep: boolean };

/** Offsets in a text up to which the parts of the pattern so far match. */
function matches(parts: readonly Part[], text: string): boolean {
  let reached = new Set([0]);
  for (const part of parts) {
    const next = new Set<number>();
    if (typeof part === 'string') {
      for (const at of reached) if (text.startsWith(part, at)) next.add(at + part.length);
    } else {
      const [first = text.length] = [...reached].sort((one, other) => one - other);
      for (let at = first, open = false; at <= text.length; at++) {
        open ||= reached.has(at);
        if (open) next.add(at);
        if (!part.isDeep && text[at] === '/') open = false;
      }
    }
    if (next.size === 0) return false;
    reached = next;
  }
  return reached.has(text.length);
}
