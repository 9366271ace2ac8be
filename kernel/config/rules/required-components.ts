import { joinPointer } from '#contract';
import type { ServiceRule } from './rule.ts';

/**
 * A component at the root that can do nothing without another one there is not left alone.
 *
 * Codes: COMPONENT_REQUIRED, COMPONENT_UNUSED.
 */
export const requiredComponents: ServiceRule = ({ extra_config: components }, report, known) => {
  for (const namespace in components) {
    const { requires = [], expects = [] } = known.plugin(namespace) ?? {};
    const pointer = joinPointer('/extra_config', namespace);
    const hint = (missing: string) => ({ hint: `add "${missing}" to extra_config at the root` });
    const isMissing = (other: string) => !Object.hasOwn(components, other);
    for (const missing of requires.filter(isMissing)) {
      report.error('COMPONENT_REQUIRED', pointer, `${namespace} needs ${missing}`, hint(missing));
    }
    for (const missing of expects.filter(isMissing)) {
      report.warn('COMPONENT_UNUSED', pointer, `${namespace} has no effect without ${missing}`, hint(missing));
    }
  }
};
