import type { Infer, Schema } from './schema.ts';

const fields = {
  on_error: {
    type: 'string',
    enum: ['refuse', 'skip'],
    description:
      'Handling of a request if a hook of the plugin fails on it: `refuse` rejects the request with 500, `skip` continues without the hook. Default: refuse.',
  },
  suspend_after: {
    type: 'integer',
    minimum: 0,
    description:
      "Number of consecutive failures per process after which the plugin is suspended. Until the admin API lifts the suspension or the plugin's file changes, requests that use the plugin are rejected with 503, or served without it if `on_error` is `skip`. Default: 0, which disables suspension.",
  },
} as const satisfies Readonly<Record<string, Schema>>;

/** Fields of the root object `plugin` that configure the handling of faults in plugins from files. */
export const pluginPolicyFields = {
  ...fields,
  policies: {
    type: 'object',
    description: 'Policies of individual plugins, by plugin name. Unset fields use the values above.',
    default: {},
    examples: [{ 'acme/audit': { on_error: 'skip' } }],
    values: { type: 'object', description: 'Policy of one plugin.', properties: fields },
  },
} as const satisfies Readonly<Record<string, Schema>>;

const schema = { type: 'object', properties: pluginPolicyFields } as const satisfies Schema;

/** Fault handling configured in the root object `plugin`. */
export type PluginPolicies = Infer<typeof schema>;

/** Fault handling of one plugin. */
export interface PluginPolicy {
  readonly skips: boolean;
  /** Number of consecutive faults after which the plugin is suspended; 0 disables suspension. */
  readonly suspendAfter: number;
}

/** Policy of the plugin with this name. */
export function policyOf(name: string, policies: PluginPolicies | undefined): PluginPolicy {
  const all = policies?.policies ?? {};
  const own = Object.hasOwn(all, name) ? all[name] : undefined;
  return {
    skips: (own?.on_error ?? policies?.on_error) === 'skip',
    suspendAfter: own?.suspend_after ?? policies?.suspend_after ?? 0,
  };
}
