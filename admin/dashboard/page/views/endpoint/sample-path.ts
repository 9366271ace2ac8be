/** A path that a pattern matches. */
export function samplePath(pattern: string): string {
  return pattern.replace(/\{[^}]*\}/g, '1').replace(/\*$/, 'path');
}
