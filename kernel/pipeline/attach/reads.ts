const none: readonly string[] = Object.freeze([]);

/** Kinds of inputs that a plugin's `attach` function reads by name. */
type Kind = 'settings' | 'services' | 'files' | 'ports' | 'encodings';

/**
 * Names of everything that a plugin has read through its site, in addition to the configuration of the component, its
 * endpoint and its backend. If nothing of it has changed, the hooks of the plugin can be reused.
 */
export class Reads implements Readonly<Record<Kind, readonly string[]>> {
  /** Fields of the service configuration. */
  settings = none;
  services = none;
  /** Paths as written in the configuration. */
  files = none;
  /** Ports at which the plugin requested values of other plugins, even without success. */
  ports = none;
  encodings = none;
  /** Whether the plugin sends requests to the gateway itself, through `dispatch`. */
  gateway = false;
  readonly #around: Reads | null;

  /**
   * @param around reads of the surrounding place, such as the endpoint of a backend, to which every name is added as
   * well.
   */
  constructor(around: Reads | null = null) {
    this.#around = around;
  }

  note(kind: Kind, name: string): void {
    // If the surrounding reads contain the name, they need no update.
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
 * Maps each list of names to the lists that have one more name. Thousands of plugin instances then share lists, because
 * they read the same few names.
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
