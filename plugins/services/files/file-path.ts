/** A path below a directory. */
export interface FilePath {
  /** The names it goes through; none for the directory itself. */
  readonly names: readonly string[];
  /** It ends with a slash, and so can only be a directory. */
  readonly isDirectory: boolean;
}

/**
 * Reads a path below a directory, with or without a slash before it.
 * @param path decoded, once: an encoded slash separates like a plain one.
 * @returns null for what names nothing there: a path that leaves the directory, a hidden name (`.well-known` is none), NUL and
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

/** The text of a path as on the wire; null for escapes that nothing can be made of. */
export function decodePath(path: string): string | null {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}

/** A path as on the wire with a slash at its end. Slashes at its beginning are one: two of them would lead to another host. */
export function asDirectory(path: string): string {
  return `${path.replace(/^\/+/, '/').replace(/\/+$/, '')}/`;
}
