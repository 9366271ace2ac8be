/** The name under which a key becomes a comment. */
export function commentKey(holder: object, key: string): string {
  let name = `@${key}`;
  while (Object.hasOwn(holder, name)) name = `@${name}`;
  return name;
}
