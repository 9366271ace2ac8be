/** The parser of the library that compiles TypeScript. @param language flags for JSX, TypeScript and Flow. */
export type Parse = (code: string, ...language: readonly [boolean, boolean, boolean]) => Parsed;

interface Parsed {
  readonly tokens: readonly { readonly start: number; readonly end: number }[];
  readonly scopes: readonly {
    readonly startTokenIndex: number;
    readonly endTokenIndex: number;
    readonly isFunctionScope: boolean;
  }[];
}

/** Lines of the `await`s that a module itself waits for, outside of its functions, in ascending order. */
export function topLevelAwaits(code: string, parse: Parse): number[] {
  const { tokens, scopes } = parse(code, false, false, false);
  const textOf = (at: number) => (tokens[at] ? code.slice(tokens[at].start, tokens[at].end) : '');
  // The scope of the module is also a function scope; it starts at token 0.
  const functions = scopes.filter(({ isFunctionScope, startTokenIndex }) => isFunctionScope && startTokenIndex > 0);
  const lines = new Set<number>();
  for (const [at, { start }] of tokens.entries()) {
    if (textOf(at) !== 'await' || textOf(at - 1) === '.' || textOf(at + 1) === ':') continue;
    const isInside = functions.some(
      ({ startTokenIndex, endTokenIndex }) => startTokenIndex <= at && at < endTokenIndex,
    );
    if (!isInside) lines.add(code.slice(0, start).split('\n').length);
  }
  return [...lines];
}
