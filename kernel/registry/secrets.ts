import {
  canBeSecret,
  type IsSecret,
  isMarked,
  isReferenceAlone,
  isSecret,
  parsePointer,
  presentName,
} from '../config/index.ts';
import type { Registry } from './registry.ts';

/**
 * Selects the secrets of a configuration: values recognized by name or text, and fields that a component's schema marks
 * as secret. Knows the schemas of loaded plugins.
 */
export function secretsKnownTo(registry: Registry): IsSecret {
  return (pointer, value, holder) =>
    isSecret(pointer, value, holder) ||
    (canBeSecret(value) && !isReferenceAlone(value) && isMarkedField(registry, pointer));
}

function isMarkedField(registry: Registry, pointer: string): boolean {
  if (!pointer.includes('/extra_config/')) return false;
  const steps = parsePointer(pointer);
  const at = steps.lastIndexOf('extra_config') + 1;
  const name = steps[at] ?? '';
  const places = registry.plugin(presentName(name, registry.compatibility))?.places ?? [];
  return places.some(({ schema }) => isMarked(schema, steps.slice(at + 1)));
}
