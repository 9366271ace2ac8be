/** True for an allowed origin, as sent by a browser. */
export type OriginTest = (origin: string) => boolean;

/**
 * Compiles a list of origins, each with at most one `*`. Case-insensitive.
 * @returns null when every origin is allowed.
 */
export function originTest(entries: readonly string[]): OriginTest | null {
  if (entries.length === 0 || entries.includes('*')) return null;
  const exact = new Set<string>();
  const around: (readonly [prefix: string, suffix: string])[] = [];
  for (const entry of entries) {
    const lower = entry.toLowerCase();
    const star = lower.indexOf('*');
    if (star < 0) exact.add(lower);
    else around.push([lower.slice(0, star), lower.slice(star + 1)]);
  }
  return (origin) => {
    const lower = origin.toLowerCase();
    if (exact.has(lower)) return true;
    return around.some(
      ([prefix, suffix]) =>
        lower.length >= prefix.length + suffix.length && lower.startsWith(prefix) && lower.endsWith(suffix),
    );
  };
}

/** Scheme, host and port, without a path, as sent by browsers. */
const originShape = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]+$/i;

/** True for an entry that can match an origin. */
export function canBeOrigin(entry: string): boolean {
  return entry === 'null' || originShape.test(entry);
}
