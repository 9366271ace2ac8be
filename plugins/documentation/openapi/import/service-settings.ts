import { type Data, type DataObject, isObject } from '#contract';
import type { Resolver } from './resolver.ts';

/** Adds a document's description of the whole API to the existing settings. */
export function describeService(
  known: DataObject,
  { document }: Resolver,
  schemes: Readonly<Record<string, DataObject>>,
): DataObject {
  const { title: _, description, version, termsOfService, contact, license } = objectOf(document['info']);
  const { name, email, url } = objectOf(contact);
  const { name: licenseName, url: licenseUrl } = objectOf(license);
  const tags = (Array.isArray(document['tags']) ? document['tags'] : [])
    .filter(isObject)
    .filter((tag) => isText(tag['name']));
  const texts = {
    version,
    description,
    terms_of_service: termsOfService,
    contact_name: name,
    contact_email: email,
    contact_url: url,
    license_name: licenseName,
    license_url: licenseUrl,
  };
  const said = Object.fromEntries(Object.entries(texts).filter(([, value]) => isText(value))) as DataObject;
  const before = Array.isArray(known['tag_definition']) ? known['tag_definition'] : [];
  const added = tags
    .filter((tag) => !before.some((other) => objectOf(other)['name'] === tag['name']))
    .map(
      (tag): DataObject => ({
        name: tag['name']!,
        ...(isText(tag['description']) && { description: tag['description']! }),
      }),
    );
  const definitions = [...before, ...added];
  return {
    ...said,
    ...known,
    ...(definitions.length > 0 && { tag_definition: definitions }),
    ...((Object.keys(schemes).length > 0 || known['custom_security_schemes'] !== undefined) && {
      custom_security_schemes: { ...schemes, ...objectOf(known['custom_security_schemes']) },
    }),
  };
}

function isText(value: Data | undefined): boolean {
  return typeof value === 'string' && value !== '';
}

function objectOf(value: Data | undefined): DataObject {
  return isObject(value) ? value : {};
}

/** Returns the security schemes of a document, in OpenAPI 3 form. */
export function schemesOf(resolver: Resolver): Readonly<Record<string, DataObject>> {
  const { document } = resolver;
  const { securitySchemes } = resolver.object(document['components']) ?? {};
  const old = resolver.members(document['securityDefinitions']).map(([name, scheme]) => [name, fromSwagger(scheme)]);
  return Object.fromEntries([...resolver.members(securitySchemes), ...old]);
}

/** Names of OAuth flows in OpenAPI 3. */
const flows: Readonly<Record<string, string>> = {
  implicit: 'implicit',
  password: 'password',
  application: 'clientCredentials',
  accessCode: 'authorizationCode',
};

function fromSwagger(scheme: DataObject): DataObject {
  const { type, description, flow, authorizationUrl, tokenUrl, scopes = {} } = scheme;
  const about: DataObject = description === undefined ? {} : { description };
  if (type === 'basic') return { type: 'http', scheme: 'basic', ...about };
  if (type !== 'oauth2') return scheme;
  const name = Object.hasOwn(flows, String(flow)) ? flows[String(flow)]! : 'implicit';
  const written: DataObject = {
    ...(authorizationUrl !== undefined && { authorizationUrl }),
    ...(tokenUrl !== undefined && { tokenUrl }),
    scopes,
  };
  return { type: 'oauth2', flows: { [name]: written }, ...about };
}
