/** The paths that operations get at the gateway. One method has one name for the variable at one position. */
export class PublicPaths {
  readonly #prefix: string;
  readonly #roots = new Map<string, Position>();
  /** Variables stand inside words, as in `/file.{extension}`. */
  hasGluedVariables = false;

  /** @param prefix that every path gets, without a slash at its end. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /**
   * @param wildcard the variable that is all that is left of the path; it must be the last segment.
   * @returns the path, the names that variables have now by those they had, and why it is none.
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
      if (/[{}]/.test(pieces.filter((_, at) => at % 2 === 0).join(''))) return refused('its braces do not match');
      if (pieces.slice(2, -1).includes('')) return refused('two of its variables have no text between them');
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
    return end && wildcard === undefined ? refused('the path is there already') : { endpoint, names };
  }

  /** Takes the names of an endpoint that there is already. */
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

/** What may follow a path so far, by its form: `{}` for a variable. */
type Position = Map<string, { readonly names: readonly string[]; readonly next: Position }>;

/** Stands for the end of a path: no segment has a slash in it. */
const END = '/';

function rootIn(roots: Map<string, Position>, method: string): Position {
  const root: Position = roots.get(method) ?? new Map();
  roots.set(method, root);
  return root;
}

function refused(refusal: string): TakenPath {
  return { refusal };
}

/** A name that a variable can have, and that no other one of the path has. */
function nameFor(wished: string, used: Set<string>): string {
  const plain = wished.replace(/[^\w-]+/g, '_') || 'value';
  let name = plain;
  for (let count = 2; used.has(name); count++) name = `${plain}_${count}`;
  used.add(name);
  return name;
}
