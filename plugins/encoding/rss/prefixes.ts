type Declaration = readonly [prefix: string, uri: string | undefined];

const none: readonly Declaration[] = [];

/**
 * Namespace prefixes in scope at a position of a document. The cost of an element depends only on its own declarations,
 * not on its depth.
 */
export class Prefixes {
  readonly #uris = new Map<string, string>();
  /** For each open element, the declarations that the element's own declarations have replaced. */
  readonly #replaced: (readonly Declaration[])[] = [];

  /** Enters an element. The default namespace has the empty prefix. */
  open(attributes: Readonly<Record<string, string>>): void {
    let replaced: Declaration[] | null = null;
    for (const key in attributes) {
      if (key !== 'xmlns' && !key.startsWith('xmlns:')) continue;
      const prefix = key.slice('xmlns:'.length);
      replaced ??= [];
      replaced.push([prefix, this.#uris.get(prefix)]);
      this.#uris.set(prefix, attributes[key]!);
    }
    this.#replaced.push(replaced ?? none);
  }

  /** Leaves the last element entered. */
  close(): void {
    for (const [prefix, uri] of this.#replaced.pop()!) {
      if (uri === undefined) this.#uris.delete(prefix);
      else this.#uris.set(prefix, uri);
    }
  }

  get(prefix: string): string | undefined {
    return this.#uris.get(prefix);
  }
}
