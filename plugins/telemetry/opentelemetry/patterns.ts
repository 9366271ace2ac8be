/** Converts the pattern of an endpoint or a backend to its name in metrics: `{userId}` becomes `:userid`. */
export function routeName(pattern: string): string {
  return pattern.replace(/\{([^{}]+)\}/g, (_match, name: string) => `:${name.toLowerCase()}`);
}

/** Paths served by the gateway itself. */
const ownPaths = ['/__health', '/__ready', '/__debug/', '/__echo/', '/__stats/'];

/** Paths and endpoints excluded from reporting. */
export interface SkippedPaths {
  /** @param path as sent by the client. */
  skipsPath(path: string): boolean;
  /** @param pattern of an endpoint, as configured. */
  skipsPattern(pattern: string): boolean;
}

/** @param listed paths, and patterns with `{id}` or `:id`; an empty list selects the gateway's own paths. */
export function skippedPaths(listed: readonly string[]): SkippedPaths {
  const entries = (listed.length === 0 ? ownPaths : listed).filter((entry) => entry !== '');
  const exact = new Set(entries);
  const below = entries.filter((entry) => entry.length > 1 && entry.endsWith('/'));
  const patterns = new Set(entries.map(routeName));
  return {
    skipsPath: (path) => exact.has(path) || below.some((start) => path.startsWith(start)),
    skipsPattern: (pattern) => patterns.has(routeName(pattern)),
  };
}
