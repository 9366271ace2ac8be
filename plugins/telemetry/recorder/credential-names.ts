import { type DataObject, isObject } from '#contract';

/** Fields that name headers or parameters with credentials, by component. */
const naming: readonly (readonly [component: string, field: string])[] = [
  ['auth/api-keys', 'identifier'],
  ['auth/validator', 'auth_header_name'],
  ['auth/introspection', 'auth_header_name'],
];

/** Headers and parameters that contain credentials under a name of the operator's choice. */
export function credentialNames(components: Readonly<DataObject>): string[] {
  return naming.flatMap(([component, field]) => {
    const config = Object.hasOwn(components, component) ? components[component] : null;
    const name = isObject(config) && Object.hasOwn(config, field) ? config[field] : null;
    return typeof name === 'string' ? [name] : [];
  });
}
