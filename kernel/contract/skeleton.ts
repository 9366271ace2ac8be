/** Names in a new plugin. */
export interface Naming {
  /** Namespace of a plugin, or name of a module, as in `acme/team`. */
  readonly name: string;
  /** Last segment of the name, by which its files are named. */
  readonly word: string;
  /** Header that no plugin of another name sets. */
  readonly header: string;
  /** It runs in a thread of its own. */
  readonly isolated: boolean;
}

/** A plugin and its test, as text. */
export interface Skeleton {
  readonly plugin: (naming: Naming) => string;
  readonly test: (naming: Naming) => string;
  /** How a configuration uses it. */
  readonly usage: (naming: Naming) => string;
  /** It can run in a thread of its own. */
  readonly canBeIsolated?: true;
}

/** Skeletons by the kind of plugin. */
export type Skeletons = Readonly<Record<string, Skeleton>>;
