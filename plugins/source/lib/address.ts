/** Key in the path of an address, without slashes at its ends; empty without a path. @throws Error if it is not encoded correctly. */
export function keyIn({ pathname }: URL): string {
  try {
    return decodeURIComponent(pathname).replace(/^\/+|\/+$/g, '');
  } catch {
    throw new Error('the path of the address has a "%" that encodes no character: write it as %25');
  }
}

/** @throws Error if the query of an address has other parameters. */
export function demandParameters({ searchParams }: URL, known: readonly string[]): void {
  const unknown = [...searchParams.keys()].find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const allowed = known.length === 0 ? 'the address has no parameters' : `known: ${known.join(', ')}`;
  throw new Error(`unknown parameter ${JSON.stringify(unknown)} in the address (${allowed})`);
}
