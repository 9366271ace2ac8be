/** Longest text that is written, in characters. */
const MAX_CHARACTERS = 128 * 1024 * 1024;

/**
 * A text that grows piece by piece up to a limit. Formats that repeat names or indentation for every value could
 * otherwise produce gigabytes from a small document.
 */
export class BoundedText {
  #text = '';

  /** @throws Error beyond 128 Mi characters. */
  add(piece: string): void {
    this.#text += piece;
    if (this.#text.length > MAX_CHARACTERS) throw new Error(`text longer than ${MAX_CHARACTERS} characters`);
  }

  toString(): string {
    return this.#text;
  }
}
