/** A path without empty, `.` and `..` segments; a final slash stays. */
export function cleanPath(path: string): string {
  const kept: string[] = [];
  const segments = path.split('/');
  for (const segment of segments) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..') kept.pop();
    else kept.push(segment);
  }
  const directory = /\/\.{0,2}$/.test(path) && kept.length > 0;
  return `/${kept.join('/')}${directory ? '/' : ''}`;
}
