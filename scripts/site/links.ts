import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import type { SiteDocument, SiteOptions } from './document.ts';

/** Resolves the links of documents, and collects the files of the repository that they lead to. */
export class Links {
  /** Content of files that the site contains for its pages, by path in the site. */
  readonly files = new Map<string, Uint8Array>();
  readonly #root: string;
  readonly #byOrigin: ReadonlyMap<string, SiteDocument>;
  readonly #repository: string | undefined;

  constructor(root: string, documents: readonly SiteDocument[], { repository }: SiteOptions) {
    this.#root = root;
    this.#byOrigin = new Map(documents.map((document) => [document.origin, document]));
    this.#repository = repository?.replace(/\/$/, '');
  }

  /**
   * Resolves a link of a document. @param extension of pages, `html` or `md`.
   * @returns null for a folder of the repository if the address of the repository is not known.
   * @throws Error for a file that does not exist.
   */
  resolve(from: SiteDocument, target: string, extension: string): string | null {
    if (/^[a-z]+:|^#/.test(target)) return target;
    const [path = '', fragment] = target.split('#');
    const origin = normalize(join(dirname(from.origin), path)).replace(/\/$/, '');
    const page = this.#byOrigin.get(origin) ?? this.#byOrigin.get(`${origin}/README.md`);
    const suffix = fragment === undefined ? '' : `#${fragment}`;
    if (page) return relativeTo(from.path, `${page.path}.${extension}`) + suffix;
    const file = join(this.#root, origin);
    if (!existsSync(file)) throw new Error(`${from.origin} leads to ${target}, which does not exist`);
    const isFolder = statSync(file).isDirectory();
    const isImage = /\.(?:svg|png)$/.test(origin);
    if (this.#repository && !isImage)
      return `${this.#repository}/${isFolder ? 'tree' : 'blob'}/main/${origin}${suffix}`;
    if (isFolder) return null;
    this.files.set(`files/${origin}`, readFileSync(file));
    return relativeTo(from.path, `files/${origin}`);
  }

  /** Address at which the source of a document is edited; null if the address of the repository is not known. */
  edit({ source }: SiteDocument): string | null {
    return this.#repository ? `${this.#repository}/edit/main/${source}` : null;
  }
}

/** A path in the site as seen from a page. */
export function relativeTo(page: string, path: string): string {
  return relative(dirname(page), path);
}
