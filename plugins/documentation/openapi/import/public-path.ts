/** Public paths of the imported operations. For each method, a variable at the same position always has the same name. */
export class PublicPaths {
  readonly #prefix: string;
  readonly #roots = new Map<string, Position>();
  /** Whether a variable is only part of a segment, as in `/file.{extension}`. */
  hasGluedVariables = false;

  /** @param prefix prepended to every path, without a trailing slash. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /**
   * @param wildcard the variable that matches the rest of the path; must be the last segment.
   * @returns the path and the new names of variables by their original names, or the reason why the path is invalid.
   */
  take(method: string, path: string, wildcard: string | undefined): TakenPath {
    const whole = this.#prefix + path;
    const forbidden = /[*?&%:#\\]|\s/.exec(whole)?.[0];
    if (forbidden !== undefined) return refused(`'${forbidden}' is not allowed in a path`);
    if (/^\/__/.test(whole)) return refused('the gateway keeps paths that begin with /__ to itself');
    const names = new Map<string, string>();
    const used = new Set<string>();
    let position = rootIn(this.#roots, method);
    const segments: string[] = [];
    for (const segment of whole.split('/')) {
      if (wildcard !== undefined && segment === `{${wildcard}}` && whole.endsWith(segment)) {
        segments.push('*');
        break;
      }
      const pieces = segment.split(/\{([^{}]*)\}/);
      if (/[{}]/.test(pieces.filter((_, at) => at % 2 === 0).join('')))
        return refused('the braces of the path do not match');
      if (pieces.slice(2, -1).includes('')) return refused('two placeholders have no text between them');
      if (pieces.length > 1) this.#noteGlued(pieces);
      const form = pieces.filter((_, at) => at % 2 === 0).join('{}');
      const wished = pieces.filter((_, at) => at % 2 === 1);
      const known = position.get(form) ?? { names: wished.map((name) => nameFor(name, used)), next: new Map() };
      position.set(form, known);
      for (const [at, name] of wished.entries()) {
        names.set(name, known.names[at]!);
        used.add(known.names[at]!);
      }
      segments.push(pieces.map((piece, at) => (at % 2 === 0 ? piece : `{${known.names[(at - 1) / 2]}}`)).join(''));
      position = known.next;
    }
    const endpoint = segments.join('/');
    if (endpoint === '/*') return refused('a wildcard must follow a path segment');
    const end = position.get(END);
    position.set(END, { names: [], next: new Map() });
    return end && wildcard === undefined ? refused('the path already exists') : { endpoint, names };
  }

  /** Reserves the variable names of an existing endpoint. */
  keep(method: string, endpoint: string): void {
    let position = rootIn(this.#roots, method);
    for (const segment of endpoint.split('/')) {
      const pieces = segment.split(/\{([^{}]*)\}/);
      const form = pieces.filter((_, at) => at % 2 === 0).join('{}');
      const known = position.get(form) ?? { names: pieces.filter((_, at) => at % 2 === 1), next: new Map() };
      position.set(form, known);
      position = known.next;
    }
    position.set(END, { names: [], next: new Map() });
  }

  #noteGlued(pieces: readonly string[]): void {
    this.hasGluedVariables ||= pieces.length > 3 || pieces[0] !== '' || pieces.at(-1) !== '';
  }
}

export type TakenPath =
  | { readonly endpoint: string; readonly names: ReadonlyMap<string, string> }
  | { readonly refusal: string };

/** Possible continuations of a path, by the form of the segment, with `{}` for variables. */
type Position = Map<string, { readonly names: readonly string[]; readonly next: Position }>;

/** Marks the end of a path: segments never contain a slash. */
const END = '/';

function rootIn(roots: Map<string, Position>, method: string): Position {
  const root: Position = roots.get(method) ?? new Map();
  roots.set(method, root);
  return root;
}

function refused(refusal: string): TakenPath {
  return { refusal };
}

/** Returns a valid name for a variable that is unique in the path. */
function nameFor(wished: string, used: Set<string>): string {
  const plain = wished.replace(/[^\w-]+/g, '_') || 'value';
  let name = plain;
  for (let count = 2; used.has(name); count++) name = `${plain}_${count}`;
  used.add(name);
  return name;
}
