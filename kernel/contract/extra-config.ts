/** Schema of `extra_config`. */
export const extraConfig = {
  type: 'object',
  description: 'Component configurations by namespace.',
  default: {},
} as const;

/** A name in `extra_config`, `encoding/<name>` or `discovery/<name>`. Also the plugin's path below `plugins/`. */
export type Namespace = string;

/** Position of a component in the configuration. */
export type Level = 'service' | 'endpoint' | 'backend' | 'agent';
