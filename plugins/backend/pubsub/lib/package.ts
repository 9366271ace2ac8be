import type { Opening } from './driver.ts';

/**
 * Refuses an address whose client is not installed: those of clouds are large, and optional.
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
