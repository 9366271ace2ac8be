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
    if (!this[kind].includes(name)) this[kind] = this[kind].concat(name);
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
