import type { AuditedComponent, ServiceConfig } from '#contract';
import { type KnownPlugins, markedLiterals, secretLiterals } from '../../config/index.ts';

/** Secrets that stand in the configuration as they are, by their names, their texts, and what schemas say of them. */
export function literalSecrets(
  config: ServiceConfig,
  components: readonly AuditedComponent[],
  known: KnownPlugins,
): string[] {
  const marked = components.flatMap(({ namespace, level, settings, pointer }) =>
    (known.plugin(namespace)?.places ?? [])
      .filter(({ at }) => at === level)
      .flatMap(({ schema }) => markedLiterals(schema, settings, pointer)),
  );
  const named = secretLiterals(config, known).map(({ pointer }) =>
    pointer.replace(/^\/router(?=\/)/, '/extra_config/router'),
  );
  return [...named, ...marked.map(({ pointer }) => pointer)];
}
