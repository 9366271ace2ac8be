/** A parsed request target; nothing is decoded. */
export interface Target {
  readonly path: string;
  /** Query string without `?`. */
  readonly search: string;
  /** Authority of an absolute-form target; undefined for origin form. */
  readonly host: string | undefined;
}

/** Parses origin-form and absolute-form targets; null for any other. */
export function parseTarget(target: string): Target | null {
  let rest = target;
  let host: string | undefined;
  if (rest.charCodeAt(0) !== 47) {
    const absolute = /^https?:\/\/([\w.\-:[\]%~!$&'()*+,;=]+)(|[/?].*)$/i.exec(rest);
    if (!absolute) return null;
    host = absolute[1]!;
    rest = absolute[2]!.startsWith('/') ? absolute[2]! : `/${absolute[2]!}`;
  }
  if (rest.includes('#')) return null;
  const mark = rest.indexOf('?');
  return mark < 0
    ? { path: rest, search: '', host }
    : { path: rest.slice(0, mark), search: rest.slice(mark + 1), host };
}

/**
 * Removes empty, `.` and `..` segments from a path; a trailing slash is kept. Text after a `;` in a segment is ignored,
 * as many servers read `..;x` as `..`.
 *
 * @param isEncoded whether the path is as sent, where an encoded slash is a separator like a plain one.
 */
export function cleanPath(path: string, isEncoded = false): string {
  const kept: string[] = [];
  let name = '';
  for (const segment of path.split(isEncoded ? /\/|%2f/i : '/')) {
    name = nameOf(isEncoded ? decodeURIComponent(segment) : segment);
    if (name === '..') kept.pop();
    else if (name !== '' && name !== '.') kept.push(segment);
  }
  const isDirectory = kept.length > 0 && /^\.{0,2}$/.test(name);
  return `/${kept.join('/')}${isDirectory ? '/' : ''}`;
}

function nameOf(segment: string): string {
  const end = segment.indexOf(';');
  return end < 0 ? segment : segment.slice(0, end);
}
