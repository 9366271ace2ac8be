/** The schema of `extra_config`, wherever it stands. */
export const extraConfig = {
  type: 'object',
  description: 'Component configurations by namespace.',
  default: {},
} as const;

/** A name under `extra_config`, `encoding/<name>` or `discovery/<name>`; it is also the plugin's path below `plugins/`. */
export type Namespace = string;

/** Where a component stands. */
export type Level = 'service' | 'endpoint' | 'backend' | 'agent';
