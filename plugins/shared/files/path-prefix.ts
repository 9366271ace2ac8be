/**
 * Matches a decoded path against a prefix of whole segments: `/media` matches `/media/x` but not `/mediator`; a prefix
 * that ends with a slash is compared literally.
 * @returns the rest, including its leading slash: empty for the prefix itself if that has no trailing slash; undefined
 * if the path does not match.
 */
export function belowPrefix(path: string, prefix: string): string | undefined {
  const bare = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix;
  if (!path.startsWith(prefix)) return undefined;
  const rest = path.slice(bare.length);
  return rest === '' || rest.startsWith('/') ? rest : undefined;
}
