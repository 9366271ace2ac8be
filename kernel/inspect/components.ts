import type { AuditRule, Level, Namespace, Schema } from '#contract';
import type { IsSecret, JsonSchema, KnownPlugins } from '../config/index.ts';
import { type CompleteSchema, completeSchema, componentSchema } from '../pipeline/complete-schema.ts';
import type { Registry } from '../registry/registry.ts';
import { secretsKnownTo } from '../registry/secrets.ts';
import { auditRules } from './audit/index.ts';
import type { FindPosition } from './file-position.ts';
import { listPlugins, type PluginView } from './plugins.ts';
import type { Served } from './served.ts';

/** Components that a configuration may name. */
export interface Components {
  readonly names: readonly Namespace[];
  /** Decides which parts of a configuration are secret. */
  readonly isSecret: IsSecret;
  /** Descriptions of the loaded components. */
  readonly known: KnownPlugins;
  /** Loads every plugin. Until then, secrets that only the schemas of unused plugins mark are not recognized. */
  load(): Promise<void>;
  /** JSON Schema of a complete configuration. */
  schema(): Promise<CompleteSchema>;
  /** JSON Schema of one component; undefined when no component of that name has a configuration. */
  schemaOf(namespace: Namespace): Promise<JsonSchema | undefined>;
  /** Schema of a loaded component's configuration at a level. */
  schemaAt(namespace: Namespace, level: Level): Schema | undefined;
  /** All audit rules: built-in ones and those of plugins. Loads every plugin. */
  auditRules(): Promise<readonly AuditRule[]>;
  /** Lists the gateway's plugins by name; loads all of them. */
  list(
    served: Pick<Served, 'config' | 'compiled'>,
    generations: number,
    position?: FindPosition,
  ): Promise<readonly PluginView[]>;
}

/** Components of a registry. */
export function componentsOf(registry: Registry): Components {
  return {
    names: registry.namespaces,
    known: registry,
    isSecret: secretsKnownTo(registry),
    load: () => registry.load(registry.namespaces),
    schema: () => completeSchema(registry),
    schemaOf: (namespace) => componentSchema(registry, namespace),
    schemaAt: (namespace, level) => registry.place(namespace, level)?.schema,
    auditRules: () => auditRules(registry),
    list: (served, generations, position) => listPlugins(registry, served, generations, position),
  };
}
