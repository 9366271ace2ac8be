import type { Readable } from 'node:stream';
import type { GivenBody } from '#contract';

/**
 * A body as a field of what handlers see: a stream that is made when somebody looks, until something else is put in its
 * place. It is an own field of its object, so that copies of the object have it.
 */
export class BodyField {
  readonly #open: () => Readable;
  #stream: Readable | null = null;
  #given: GivenBody;
  #isReplaced = false;

  private constructor(open: () => Readable) {
    this.#open = open;
  }

  /** @param open makes the stream; it must take the bytes no earlier than somebody reads. */
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

  /** What was put in its place; undefined for nothing. */
  get replacement(): { readonly body: GivenBody } | undefined {
    return this.#isReplaced ? { body: this.#given } : undefined;
  }

  /** True for the stream that somebody was shown. */
  isStream(given: unknown): boolean {
    return this.#stream !== null && given === this.#stream;
  }

  /** Somebody was shown the stream: it may be wrapped in another one. */
  get stream(): Readable | null {
    return this.#stream;
  }

  /** Bytes were taken, and nothing was put in their place. */
  get isConsumed(): boolean {
    return !this.#isReplaced && this.#stream !== null && this.#stream.readableDidRead;
  }
}
