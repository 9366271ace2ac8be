import { type Data, isObject, type ServiceConfig } from '#contract';

/** Fields of TLS settings that name a file, or a list of files. */
const fileFields = ['public_key', 'private_key', 'certificate', 'ca_certs'] as const;

/** The files a configuration names, besides its own: keys and certificates of the port and of backends. */
export function referencedFiles(config: ServiceConfig): string[] {
  const files = new Set<string>();
  const add = (settings: unknown): void => {
    if (!isObject(settings)) return;
    for (const field of fileFields) {
      for (const path of [settings[field] ?? []].flat()) if (typeof path === 'string' && path !== '') files.add(path);
    }
    for (const list of [settings.keys, settings.client_certs]) if (Array.isArray(list)) list.forEach(add);
  };
  add(config.tls);
  add(config.client_tls);
  for (const endpoint of config.endpoints) {
    for (const { extra_config: components } of endpoint.backend) {
      const client = components['backend/http/client'] as Data | undefined;
      if (isObject(client)) add(client.client_tls);
    }
  }
  return [...files];
}
