import { type Data, type DataObject, isObject, type ServiceConfig } from '#contract';
import type { OpenApiSettings } from '../schema.ts';
import type { OpenApiVersion } from './schemas.ts';
import { hasMutualTls } from './security.ts';

/** Describes the API as a whole. */
export function describeInfo(
  config: Pick<ServiceConfig, 'name' | 'tls'>,
  settings: OpenApiSettings,
  version: OpenApiVersion,
): DataObject {
  const { terms_of_service: terms, license_name: license, license_url: licenseUrl } = settings;
  const contact = present({ name: settings.contact_name, url: settings.contact_url, email: settings.contact_email });
  // OpenAPI 3.0 has no security scheme for mutual TLS, so a sentence describes it.
  const note = version === '3.0' && hasMutualTls(config) ? 'Clients must have a certificate (mutual TLS).' : undefined;
  const description = [settings.description, note].filter(Boolean).join('\n\n');
  return {
    title: config.name || 'Untitled',
    ...(description !== '' && { description }),
    ...present({ termsOfService: terms }),
    ...(Object.keys(contact).length > 0 && { contact }),
    ...(license && { license: { name: license, ...present({ url: licenseUrl }) } }),
    version: settings.version ?? '1.0.0',
  };
}

function present(fields: Readonly<Record<string, string | undefined>>): DataObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value)) as DataObject;
}

/** Describes the servers of the API. */
export function describeServers({ servers, host, base_path: base = '/', schemes = ['http'] }: OpenApiSettings): Data[] {
  if (servers) {
    return servers.map(({ url, description, variables = {} }) => ({
      url,
      ...present({ description }),
      ...(Object.keys(variables).length > 0 && { variables: describeVariables(variables) }),
    }));
  }
  if (!host) return [];
  const path = `/${base}`.replace(/\/+/g, '/').replace(/\/$/, '');
  return schemes.map((scheme) => ({ url: `${scheme}://${host}${path}` }));
}

function describeVariables(variables: Readonly<Record<string, unknown>>): Data {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, isObject(value) ? value : { default: String(value) }]),
  );
}

/** Describes the tags. */
export function describeTags({ tag_definition: tags = [] }: OpenApiSettings): Data[] {
  return tags.map(({ name, description }) => ({ name, ...present({ description }) }));
}
