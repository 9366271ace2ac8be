import type { Catalogue } from '#contract';
import { toolServices } from '../../../kernel/cli/tools.ts';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { type Served, servedBy } from '../../../kernel/inspect/index.ts';
import { Registry } from '../../../kernel/registry/registry.ts';
import { examine } from '../../../kernel/runtime/build/build.ts';
import { catalogue as released } from '../../../plugins/index.ts';

/** The compiled form of a configuration, for inspection. `version` can be omitted. */
export async function serve(config: object, catalogue: Catalogue = released): Promise<Served> {
  const registry = new Registry(catalogue, toolServices());
  const examined = await examine({ version: 3, ...config }, {}, registry, true);
  await registry.close();
  if (examined.errors.length > 0) throw new ConfigErrors(examined.errors);
  return servedBy(examined.config, examined.compiled);
}
