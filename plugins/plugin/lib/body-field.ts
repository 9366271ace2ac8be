import type { Readable } from 'node:stream';
import type { GivenBody } from '#contract';

/**
 * The body field of the objects that handlers receive: a stream that is created on first access, until it is replaced.
 * It is an own property, so that copies of the object include it.
 */
export class BodyField {
  readonly #open: () => Readable;
  #stream: Readable | null = null;
  #given: GivenBody;
  #isReplaced = false;

  private constructor(open: () => Readable) {
    this.#open = open;
  }

  /** @param open creates the stream, which must not take the bytes before the first read. */
  static define<K extends string>(target: { [key in K]: GivenBody }, name: K, open: () => Readable): BodyField {
    const field = new BodyField(open);
    Object.defineProperty(target, name, {
      enumerable: true,
      configurable: true,
      get: () => field.value,
      set: (given: GivenBody) => field.set(given),
    });
    return field;
  }

  get value(): GivenBody {
    if (this.#isReplaced) return this.#given;
    this.#stream ??= this.#open();
    return this.#stream;
  }

  set(given: GivenBody): void {
    this.#isReplaced = given !== this.#stream || this.#stream === null;
    this.#given = given;
  }

  /** Replacement of the body; undefined for none. */
  get replacement(): { readonly body: GivenBody } | undefined {
    return this.#isReplaced ? { body: this.#given } : undefined;
  }

  /** Returns whether the value is the stream that the handler received. */
  isStream(given: unknown): boolean {
    return this.#stream !== null && given === this.#stream;
  }

  /** The stream that a handler received, and may have wrapped in another stream. Null if no handler has received it. */
  get stream(): Readable | null {
    return this.#stream;
  }

  /** Whether bytes were read and the body was not replaced. */
  get isConsumed(): boolean {
    return !this.#isReplaced && this.#stream !== null && this.#stream.readableDidRead;
  }
}
