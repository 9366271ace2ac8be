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
