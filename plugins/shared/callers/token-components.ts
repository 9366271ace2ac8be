import type { DataObject } from '#contract';

/** Components that store the claims of a token on the call. */
const tokenComponents = ['auth/validator', 'auth/introspection', 'auth/oidc'] as const;

/** The components in words, for messages. */
export const tokenComponentNames = tokenComponents.map((name) => `"${name}"`).join(' or ');

/** Whether an endpoint has a component that stores the claims of a token. */
export function readsTokens(components: Readonly<DataObject>): boolean {
  return tokenComponents.some((name) => Object.hasOwn(components, name));
}
