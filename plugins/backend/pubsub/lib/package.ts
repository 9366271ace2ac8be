import type { Opening } from './driver.ts';

/**
 * Rejects an address whose client package is not installed. Packages of cloud providers are large and therefore
 * optional.
 * @throws ConfigError PUBSUB_PACKAGE
 */
export function demandPackage({ site, field, address }: Opening, name: string): void {
  try {
    import.meta.resolve(name);
  } catch {
    throw site.fault(
      'PUBSUB_PACKAGE',
      `/${field}`,
      `"${address.text}" requires the package ${name}, which is not installed`,
      {
        hint: `npm install ${name}`,
      },
    );
  }
}
