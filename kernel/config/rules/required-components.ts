import { joinPointer } from '#contract';
import type { ServiceRule } from './rule.ts';

/**
 * A component at the root that can do nothing without another one there is not left alone.
 *
 * Code: COMPONENT_REQUIRED.
 */
export const requiredComponents: ServiceRule = ({ extra_config: components }, report, known) => {
  for (const namespace in components) {
    for (const required of known.plugin(namespace)?.requires ?? []) {
      if (Object.hasOwn(components, required)) continue;
      report.error('COMPONENT_REQUIRED', joinPointer('/extra_config', namespace), `${namespace} needs ${required}`, {
        hint: `add "${required}" to extra_config at the root`,
      });
    }
  }
};
