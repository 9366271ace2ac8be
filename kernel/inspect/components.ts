import type { AuditRule, Level, Namespace, Schema } from '#contract';
import type { IsSecret, JsonSchema, KnownPlugins } from '../config/index.ts';
import { type CompleteSchema, completeSchema, componentSchema } from '../pipeline/complete-schema.ts';
import type { Registry } from '../registry/registry.ts';
import { secretsKnownTo } from '../registry/secrets.ts';
import { auditRules } from './audit/index.ts';
import type { FindPosition } from './file-position.ts';
import { listPlugins, type PluginView } from './plugins.ts';
import type { Served } from './served.ts';

/** The components that a configuration may name. */
export interface Components {
  readonly names: readonly Namespace[];
  /** What is not to be shown of a configuration. */
  readonly isSecret: IsSecret;
  /** What those that are loaded say of themselves. */
  readonly known: KnownPlugins;
  /** Loads every plugin: until then, what the schemas of those that are not used mark as secret is not known. */
  load(): Promise<void>;
  /** The JSON Schema of a whole configuration. */
  schema(): Promise<CompleteSchema>;
  /** The JSON Schema of one component; undefined when none of that name has a configuration. */
  schemaOf(namespace: Namespace): Promise<JsonSchema | undefined>;
  /** What a component that is loaded may be given at a level. */
  schemaAt(namespace: Namespace, level: Level): Schema | undefined;
  /** As of `auditRules`. */
  auditRules(): Promise<readonly AuditRule[]>;
  /** As of `listPlugins`. */
  list(
    served: Pick<Served, 'config' | 'compiled'>,
    generations: number,
    position?: FindPosition,
  ): Promise<readonly PluginView[]>;
}

/** The components of a registry. */
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
