/**
 * Tells whether a decoded path is below a prefix: on the borders of segments, so that `/media` is for `/media/x` and not for
 * `/mediator`; a prefix with a slash at its end is compared as it is.
 * @returns what follows, with its slash: empty for the prefix itself where that has none; undefined for another path.
 */
export function belowPrefix(path: string, prefix: string): string | undefined {
  const bare = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix;
  if (!path.startsWith(prefix)) return undefined;
  const rest = path.slice(bare.length);
  return rest === '' || rest.startsWith('/') ? rest : undefined;
}
