/** The pattern of an endpoint or a backend as metrics name it: `{userId}` is `:userid`. */
export function routeName(pattern: string): string {
  return pattern.replace(/\{([^{}]+)\}/g, (_match, name: string) => `:${name.toLowerCase()}`);
}

/** The paths of the gateway itself. */
const ownPaths = ['/__health', '/__ready', '/__debug/', '/__echo/', '/__stats/'];

/** Tells which paths and which endpoints are not reported. */
export interface SkippedPaths {
  /** @param path as the client wrote it. */
  skipsPath(path: string): boolean;
  /** @param pattern of an endpoint, as it is configured. */
  skipsPattern(pattern: string): boolean;
}

/** @param listed paths, and patterns with `{id}` or `:id`; none stands for those of the gateway itself. */
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
