import { type ExpectedBelow, isObject, joinPointer, type ServiceConfig } from '#contract';
import type { ServiceRule } from './rule.ts';

/**
 * Checks that a root component's required companion is configured, at the root or at an endpoint.
 *
 * Codes: COMPONENT_REQUIRED, COMPONENT_UNUSED.
 */
export const requiredComponents: ServiceRule = (service, report, known) => {
  const { extra_config: components } = service;
  for (const namespace in components) {
    const { requires = [], expects = [], expectsBelow } = known.plugin(namespace) ?? {};
    const pointer = joinPointer('/extra_config', namespace);
    const hint = (missing: string) => ({ hint: `add "${missing}" to extra_config at the root` });
    const isMissing = (other: string) => !Object.hasOwn(components, other);
    for (const missing of requires.filter(isMissing)) {
      report.error('COMPONENT_REQUIRED', pointer, `${namespace} needs ${missing}`, hint(missing));
    }
    for (const missing of expects.filter(isMissing)) {
      report.warn('COMPONENT_UNUSED', pointer, `${namespace} has no effect without ${missing}`, hint(missing));
    }
    if (expectsBelow && !isBelow(service, expectsBelow)) {
      report.warn('COMPONENT_UNUSED', pointer, `${namespace} has no effect: no endpoint uses ${expectsBelow.called}`);
    }
  }
};

/** Endpoints with an invalid structure can be values of any type, so they are skipped. */
function isBelow({ endpoints }: ServiceConfig, { component, suits }: ExpectedBelow): boolean {
  return endpoints.some((endpoint: unknown) => {
    const components = isObject(endpoint) ? endpoint['extra_config'] : undefined;
    const config = isObject(components) && Object.hasOwn(components, component) ? components[component] : undefined;
    return isObject(config) && suits(config);
  });
}
