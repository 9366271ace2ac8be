/** Names in a new plugin. */
export interface Naming {
  /** Namespace of a plugin or name of a module, for example `acme/team`. */
  readonly name: string;
  /** Last segment of the plugin's name, which is also the name of its files. */
  readonly word: string;
  /** Header that is specific to the plugin's name. */
  readonly header: string;
  /** True for a module in its own thread. */
  readonly isolated: boolean;
}

/** A plugin and its test, as text. */
export interface Skeleton {
  readonly plugin: (naming: Naming) => string;
  readonly test: (naming: Naming) => string;
  /** Configuration that uses the new plugin. */
  readonly usage: (naming: Naming) => string;
  /** Whether plugins of this kind can run in their own thread. */
  readonly canBeIsolated?: true;
}

/** Skeletons by the kind of plugin. */
export type Skeletons = Readonly<Record<string, Skeleton>>;
