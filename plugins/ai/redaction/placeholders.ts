/** Maximum number of values of a request with placeholders of their own; further values are all replaced by the same placeholder. */
const MOST = 10_000;

/** The form of all placeholders. */
const placeholder = /\[[A-Z][A-Z0-9_]{0,39}\]/g;

/** The placeholders of one request, with their values. */
export class Placeholders {
  readonly #byValue = new Map<string, string>();
  readonly #valueOf = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #sent: () => string;
  readonly #onNew: (kind: string) => void;
  /** Placeholders that the client's text contains; null before the first value. */
  #taken: ReadonlySet<string> | null = null;
  /** Length of the longest placeholder. */
  #longest = 0;

  /** @param sent returns the client's text. Placeholders that it already contains are not used. */
  constructor(sent: () => string, onNew: (kind: string) => void) {
    this.#sent = sent;
    this.#onNew = onNew;
  }

  get size(): number {
    return this.#valueOf.size;
  }

  /** The placeholder of a value: the same for equal values, numbered by kind in order of appearance. */
  of(kind: string, value: string): string {
    const key = `${kind}\n${value}`;
    const known = this.#byValue.get(key);
    if (known !== undefined) return known;
    const label = kind.toUpperCase();
    if (this.#valueOf.size >= MOST) return `[${label}]`;
    // Found once: a search for each value would take quadratic time.
    this.#taken ??= new Set(this.#sent().match(placeholder));
    let count = this.#counts.get(kind) ?? 0;
    let made: string;
    do made = `[${label}_${++count}]`;
    while (this.#taken.has(made));
    this.#counts.set(kind, count);
    this.#byValue.set(key, made);
    this.#valueOf.set(made, value);
    this.#longest = Math.max(this.#longest, made.length);
    this.#onNew(kind);
    return made;
  }

  /** Replaces placeholders by their values. @param write form of a value in the text, for example in JSON. */
  restore(text: string, write: (value: string) => string = (value) => value): string {
    if (!text.includes('[')) return text;
    return text.replaceAll(placeholder, (found) => {
      const value = this.#valueOf.get(found);
      return value === undefined ? found : write(value);
    });
  }

  /** Length of the longest suffix of a text that can be the beginning of a placeholder. */
  incomplete(text: string): number {
    const at = text.lastIndexOf('[');
    const length = text.length - at;
    if (at < 0 || length >= this.#longest) return 0;
    const end = text.slice(at);
    for (const kind of this.#counts.keys()) {
      const head = `[${kind.toUpperCase()}_`;
      if (head.startsWith(end) || (end.startsWith(head) && /^\d+$/.test(end.slice(head.length)))) return length;
    }
    return 0;
  }
}
