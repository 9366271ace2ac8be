const none: readonly string[] = Object.freeze([]);

/** Kinds of inputs that an attachment reads by name. */
type Kind = 'settings' | 'services' | 'files' | 'ports' | 'encodings';

/**
 * The names of what an attachment read from its site, in addition to its own configuration and that of its endpoint and
 * backend. If none of it has changed, the attachment can be reused.
 */
export class Reads implements Readonly<Record<Kind, readonly string[]>> {
  /** Fields of the service configuration. */
  settings = none;
  services = none;
  /** Paths as written in the configuration. */
  files = none;
  /** Ports at which the attachment requested values of other plugins, even without success. */
  ports = none;
  encodings = none;
  /** Whether the attachment sends requests to the gateway itself, through `dispatch`. */
  gateway = false;
  readonly #around: Reads | null;

  /** @param around enclosing reads, which also record every name: for an attachment, the reads of its endpoint. */
  constructor(around: Reads | null = null) {
    this.#around = around;
  }

  note(kind: Kind, name: string): void {
    // The enclosing reads already contain the name.
    if (this[kind].includes(name)) return;
    this[kind] = inConfiguration.has(kind) ? this[kind].concat(name) : withName(this[kind], name);
    this.#around?.note(kind, name);
  }

  /** Records a name. @returns the given value. */
  noting<T>(kind: Kind, name: string, value: T): T {
    this.note(kind, name);
    return value;
  }

  noteGateway(): void {
    this.gateway = true;
    this.#around?.noteGateway();
  }
}

/** Kinds whose names are arbitrary because they come from a configuration. */
const inConfiguration: ReadonlySet<Kind> = new Set(['files', 'encodings']);

/**
 * Maps each list to the lists with one more name. Thousands of attachments read the same few names, which are fixed in
 * the code.
 */
const longer = new WeakMap<readonly string[], Map<string, readonly string[]>>();

/** Returns the same list object for the same names in the same order. */
function withName(names: readonly string[], name: string): readonly string[] {
  let known = longer.get(names);
  if (!known) {
    known = new Map();
    longer.set(names, known);
  }
  let list = known.get(name);
  if (!list) {
    list = Object.freeze([...names, name]);
    known.set(name, list);
  }
  return list;
}
