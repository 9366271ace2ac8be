import type { Catalogue, DataObject, ServiceConfig } from '#contract';

/** Describes the endpoints of a configuration in OpenAPI 3.1. @throws Error when the catalog has no component that describes it. */
export async function describeServed(
  { describe }: Catalogue,
  config: ServiceConfig,
  audience: string | undefined,
): Promise<DataObject> {
  const describing = await describe?.();
  if (!describing) throw new Error('no plugin of the catalog can describe the served endpoints');
  return describing.describeApi(config, { audience, version: '3.1' }).document;
}
