const none: readonly string[] = Object.freeze([]);

/** What can be asked for by name. */
type Kind = 'settings' | 'services' | 'files' | 'ports' | 'encodings';

/**
 * What an attachment asked its site for, by name, besides its own configuration and that of the endpoint and the backend it
 * stands in. Where nothing of that has changed, it may go on serving.
 */
export class Reads implements Readonly<Record<Kind, readonly string[]>> {
  /** Fields of the service. */
  settings = none;
  services = none;
  /** As they were written. */
  files = none;
  /** Ports it took from, whether anything was offered there or not. */
  ports = none;
  encodings = none;
  /** It asks the gateway itself, all of it: `dispatch`. */
  gateway = false;
  readonly #around: Reads | null;

  /** @param around notes the same: of an endpoint, what all that stands there asked for. */
  constructor(around: Reads | null = null) {
    this.#around = around;
  }

  note(kind: Kind, name: string): void {
    // What is known here is known around it.
    if (this[kind].includes(name)) return;
    this[kind] = inConfiguration.has(kind) ? this[kind].concat(name) : withName(this[kind], name);
    this.#around?.note(kind, name);
  }

  /** Notes what was asked for with its value. @returns that value. */
  noting<T>(kind: Kind, name: string, value: T): T {
    this.note(kind, name);
    return value;
  }

  noteGateway(): void {
    this.gateway = true;
    this.#around?.noteGateway();
  }
}

/** Whose names may be any that a configuration says. */
const inConfiguration: ReadonlySet<Kind> = new Set(['files', 'encodings']);

/** Of each list the lists with one name more. Thousands of attachments ask for the same few names, which stand in the code. */
const longer = new WeakMap<readonly string[], Map<string, readonly string[]>>();

/** One and the same list for the same names in the same order. */
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
