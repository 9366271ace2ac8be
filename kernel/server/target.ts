/** A request target taken apart: nothing is decoded. */
export interface Target {
  readonly path: string;
  /** Without `?`. */
  readonly search: string;
  /** The authority of an absolute target; undefined for the usual kind. */
  readonly host: string | undefined;
}

/** Splits origin-form and absolute-form targets; null for anything a gateway has no answer to. */
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
 * A path without empty, `.` and `..` segments; a final slash stays. What stands behind a `;` in a segment does not count:
 * many servers read `..;x` as `..`.
 *
 * @param isEncoded the path is as on the wire, where an encoded slash separates like a plain one.
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
