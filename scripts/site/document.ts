/** A page of the site before it is rendered. */
export interface SiteDocument {
  /** Path in the site without its extension, as in `guides/tokens`. */
  readonly path: string;
  readonly title: string;
  /** Heading under which the navigation lists it. */
  readonly section: string;
  /** Markdown, with links as in its source. */
  readonly text: string;
  /** File in the repository; for generated pages, the file that generates them. */
  readonly source: string;
  /** Path to which the links of the document are relative: that of the file in the repository, or of the page in the reference. */
  readonly origin: string;
}

/** Settings of a build. */
export interface SiteOptions {
  /** Address of the repository, as in `https://git.example.com/team/sluice`. Without it, pages name the path of their source. */
  readonly repository?: string | undefined;
  /** Name of this version. */
  readonly version: string;
  /** Sites of other versions. */
  readonly versions: readonly { readonly name: string; readonly url: string }[];
}

/** Prefix of `origin` for pages of the reference, which are generated and have no file in the repository. */
export const REFERENCE = 'dist/docs/';
