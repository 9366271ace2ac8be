/** Maximum number of values of a request with placeholders of their own; further values are all replaced by the same placeholder. */
const MOST = 10_000;

/** The placeholders of one request, with their values. */
export class Placeholders {
  readonly #byValue = new Map<string, string>();
  readonly #valueOf = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #isTaken: (placeholder: string) => boolean;
  readonly #onNew: (kind: string) => void;
  /** Length of the longest placeholder. */
  longest = 0;

  /** @param isTaken returns whether the client's text already contains a placeholder, which is then not used. */
  constructor(isTaken: (placeholder: string) => boolean, onNew: (kind: string) => void) {
    this.#isTaken = isTaken;
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
    let count = this.#counts.get(kind) ?? 0;
    let placeholder: string;
    do placeholder = `[${label}_${++count}]`;
    while (this.#isTaken(placeholder));
    this.#counts.set(kind, count);
    this.#byValue.set(key, placeholder);
    this.#valueOf.set(placeholder, value);
    this.longest = Math.max(this.longest, placeholder.length);
    this.#onNew(kind);
    return placeholder;
  }

  /** Replaces placeholders by their values. @param write form of a value in the text, for example in JSON. */
  restore(text: string, write: (value: string) => string = (value) => value): string {
    if (!text.includes('[')) return text;
    return text.replaceAll(/\[[A-Z][A-Z0-9_]{0,39}\]/g, (placeholder) => {
      const value = this.#valueOf.get(placeholder);
      return value === undefined ? placeholder : write(value);
    });
  }

  /** Length of the longest suffix of a text that can be the beginning of a placeholder. */
  incomplete(text: string): number {
    const at = text.lastIndexOf('[', text.length - 1);
    const length = text.length - at;
    if (at < 0 || length >= this.longest) return 0;
    const end = text.slice(at);
    for (const placeholder of this.#valueOf.keys()) if (placeholder.startsWith(end)) return length;
    return 0;
  }
}
