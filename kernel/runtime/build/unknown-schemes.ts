import { ConfigError, findNear } from '#contract';
import { type SecretReference, secretReferences } from '../../config/index.ts';
import type { Registry } from '../../registry/registry.ts';

/** Maximum number of warnings. */
const MOST = 20;

/**
 * Finds values that look like references to secrets, but whose scheme is unknown, such as a misspelled one.
 *
 * Code: a warning, SECRET_SCHEME.
 */
export async function unknownSchemes(data: unknown, registry: Registry): Promise<ConfigError[]> {
  if (!registry.isWhole) return [];
  const references = await secretReferences(data, (scheme) => registry.secretStore(scheme) === undefined);
  return references
    .filter(isMeant)
    .slice(0, MOST)
    .map(({ id, scheme, pointer, within }) => {
      const near = findNear(scheme, registry.secretSchemes);
      const hint = near ? `Did you mean "${near.name}"?` : `Known stores: ${registry.secretSchemes.join(', ')}.`;
      const message = `\${${id}} is used literally: "${scheme}" is not a store of secrets`;
      return new ConfigError('SECRET_SCHEME', pointer, message, { hint, within });
    });
}

/** Whether a whole value looks like a reference to a secret: an environment variable with a default does not. */
function isMeant({ isAlone, name }: SecretReference): boolean {
  return isAlone && !/^[-=?+]/.test(name);
}
