import type { Catalogue, DataObject, ServiceConfig } from '#contract';

/** What a configuration serves, in OpenAPI 3.1. @throws Error where the catalogue has nothing that describes it. */
export async function describeServed(
  { describe }: Catalogue,
  config: ServiceConfig,
  audience: string | undefined,
): Promise<DataObject> {
  const describing = await describe?.();
  if (!describing) throw new Error('no plugin of the catalogue can describe the served endpoints');
  return describing.describeApi(config, { audience, version: '3.1' }).document;
}
