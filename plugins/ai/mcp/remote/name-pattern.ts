/** Whether a tool name matches. */
export type MatchesName = (name: string) => boolean;

/** Compiles names and patterns with at most one `*` each. */
export function matcherOf(patterns: readonly string[]): MatchesName {
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const open = patterns.filter((pattern) => pattern.includes('*')).map((pattern) => pattern.split('*'));
  return (name) =>
    exact.has(name) ||
    open.some(
      ([start, end]) => name.length >= start!.length + end!.length && name.startsWith(start!) && name.endsWith(end!),
    );
}
