/** A path below a directory. */
export interface FilePath {
  /** Segments of the path; empty for the directory itself. */
  readonly names: readonly string[];
  /** Whether the path ends with a slash, and can therefore only be a directory. */
  readonly isDirectory: boolean;
}

/**
 * Parses a path below a directory, with or without a leading slash.
 * @param path decoded once: an encoded slash separates like a plain one.
 * @returns null for invalid paths: a path that leaves the directory, a hidden name (`.well-known` is allowed), NUL and
 * backslashes.
 */
export function readFilePath(path: string): FilePath | null {
  if (/[\0\\]/.test(path)) return null;
  const names: string[] = [];
  const segments = path.split('/');
  for (const segment of segments) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..') {
      if (names.pop() === undefined) return null;
    } else if (segment.startsWith('.') && segment !== '.well-known') return null;
    else names.push(segment);
  }
  return { names, isDirectory: path !== '' && /^\.{0,2}$/.test(segments.at(-1)!) };
}

/** Decodes a path as sent by the client; null for invalid escapes. */
export function decodePath(path: string): string | null {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}

/** Appends a slash to an encoded path. Leading slashes are merged into one: two of them would lead to another host. */
export function asDirectory(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return `${path.slice(0, end).replace(/^\/+/, '/')}/`;
}
