/** A revision of a configuration in a store. */
export interface SourceRevision {
  /** Identifies the revision in the store, for example an ETag or a revision number. */
  readonly version: string;
  /** Position among the revisions of the store: a later revision has a greater one. Null if the store has no order. */
  readonly order: number | null;
  /** Contents by relative path, with `/` between names. The first file is the configuration, others belong to it. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** A revision to write. */
export interface SourceWrite {
  readonly files: SourceRevision['files'];
  /** Version that the store must still have; null if it must have none. */
  readonly expected: string | null;
}

/** An open connection to the configuration at one address. Messages of its errors are logged: they must not contain credentials. */
export interface ConfigSource {
  /** @returns null if the address has no configuration. @throws Error with the reason. */
  read(signal: AbortSignal): Promise<SourceRevision | null>;
  /**
   * Resolves when the store may have another revision than this one. Default: the configuration is read at an interval.
   * @param version null if the address had no configuration. @throws Error if the store is lost.
   */
  awaitChange?(version: string | null, signal: AbortSignal): Promise<void>;
  /** Replaces the configuration. Absent if the store cannot be written. @returns the new version. @throws SourceConflict */
  write?(change: SourceWrite, signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

/** The store has another revision than the one that a write expects. */
export class SourceConflict extends Error {
  /** Version in the store, if known. */
  readonly version: string | null;

  constructor(version: string | null) {
    super(version === null ? 'the store has another revision' : `the store has revision ${version}`);
    this.version = version;
  }
}

/** The store requests a pause before it is read again. */
export class SourceBusy extends Error {
  /** Milliseconds. */
  readonly pauseMs: number;

  constructor(message: string, pauseMs: number) {
    super(message);
    this.pauseMs = pauseMs;
  }
}

/** Credentials and trust for a source. */
export interface SourceAccess {
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly token: string | undefined;
  /** PEM texts; absent ones have the defaults of Node.js. */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string };
}

/** Values that a plugin opens a source with. */
export interface SourceSite {
  /** Without username and password, which are in `access`. */
  readonly address: URL;
  readonly access: SourceAccess;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Maximum size of all files, in bytes. */
  readonly maxBytes: number;
}

/** A kind of store that configurations are read from. `Catalogue.sources` has the URL schemes of its addresses. */
export interface ConfigSources {
  /** Form of the address, for the reference, such as `etcd://HOST:PORT/KEY`. */
  readonly form: string;
  /** Opens the source without connecting. @throws Error if the address is not valid. */
  open(site: SourceSite): ConfigSource;
}
