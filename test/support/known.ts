import { toolServices } from '../../kernel/cli/tools.ts';
import { type Normalized, type NormalizeOptions, normalize as normalizeKnowing } from '../../kernel/config/index.ts';
import { Registry } from '../../kernel/registry/registry.ts';
import { catalogue } from '../../plugins/index.ts';

/** Every plugin of this release, loaded. */
export const known = new Registry(catalogue, toolServices());
await known.load(known.namespaces);

/** Like `normalize`, with every built-in plugin. */
export function normalize(document: unknown, options: NormalizeOptions = {}): Normalized {
  return normalizeKnowing(document, { known, ...options });
}
