import { type Data, type DataObject, isObject, parsePointer } from '#contract';
import { mapSchemas } from './schema-walk.ts';

/** Keywords that Swagger 2.0 does not support. */
const UNKNOWN = ['anyOf', 'oneOf', 'not', 'nullable', 'deprecated', 'writeOnly'];

type Warn = (message: string) => void;

/** Converts a document of OpenAPI 3.0, created by this gateway, to Swagger 2.0. @param warn reports lost information. */
export function toSwagger(document: Readonly<DataObject>, warn: Warn): DataObject {
  const { info, tags, paths, servers } = document;
  const { schemas, securitySchemes, parameters: shared } = objectOf(document['components']);
  const known = { security: securityDefinitions(objectOf(securitySchemes), warn), parameters: objectOf(shared) };
  return {
    swagger: '2.0',
    info: info!,
    ...address(servers, warn),
    ...(tags !== undefined && { tags }),
    paths: eachValue(objectOf(paths), (item) =>
      eachValue(objectOf(item), (operation) => toOperation(objectOf(operation), known, warn)),
    ),
    ...(schemas !== undefined && { definitions: eachValue(objectOf(schemas), toSchema) }),
    ...(Object.keys(known.security).length > 0 && { securityDefinitions: known.security }),
  };
}

function objectOf(value: Data | undefined): DataObject {
  return isObject(value) ? value : {};
}

function eachValue(object: DataObject, make: (value: Data) => Data): DataObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, make(value)]));
}

/** Swagger supports only one address, with several schemes. */
function address(servers: Data | undefined, warn: Warn): DataObject {
  const urls = (Array.isArray(servers) ? servers : []).flatMap((server) => {
    const { url } = objectOf(server);
    return typeof url === 'string' && URL.canParse(url) && !url.includes('{') ? [new URL(url)] : [];
  });
  const [first] = urls;
  if (!first) return {};
  const isSame = ({ host, pathname }: URL) => host === first.host && pathname === first.pathname;
  if (!urls.every(isSame)) warn('Swagger 2.0 supports one address only: the document contains the first server');
  const schemes = urls.filter(isSame).map(({ protocol }) => protocol.slice(0, -1));
  return { host: first.host, basePath: first.pathname, schemes: [...new Set(schemes)] };
}

/** Definitions that operations refer to, by name. */
interface Known {
  readonly security: DataObject;
  readonly parameters: DataObject;
}

function toOperation(operation: DataObject, known: Known, warn: Warn): DataObject {
  const { parameters, requestBody, responses, security, ...rest } = operation;
  const { description, required = false, content } = objectOf(requestBody);
  const consumed = Object.keys(objectOf(content));
  const answered = Object.values(objectOf(responses)).flatMap((response) =>
    Object.keys(objectOf(objectOf(response)['content'])),
  );
  const body = {
    name: 'body',
    in: 'body',
    ...(description !== undefined && { description }),
    required,
    schema: schemaIn(Object.values(objectOf(content))[0]),
  };
  const all = [
    ...(Array.isArray(parameters) ? parameters : [])
      .map((parameter) => referenced(objectOf(parameter), known))
      .filter((parameter) => parameter['in'] !== 'cookie')
      .map(toParameter),
    ...(requestBody === undefined ? [] : [body]),
  ];
  const { tags, summary, description: about, operationId } = rest;
  const types = (list: readonly string[]) => [...new Set(list)].filter((type) => type !== '*/*');
  const requirements = Array.isArray(security) ? security.map((each) => onlyKnown(objectOf(each), known.security)) : [];
  if (Array.isArray(security) && requirements.every((each) => Object.keys(each).length === 0)) {
    warn(`Swagger 2.0 cannot express the security requirements of ${operationId}`);
  }
  const applied = requirements.filter((each) => Object.keys(each).length > 0);
  return {
    ...(tags !== undefined && { tags }),
    ...(summary !== undefined && { summary }),
    ...(about !== undefined && { description: about }),
    ...(operationId !== undefined && { operationId }),
    ...(types(consumed).length > 0 && { consumes: types(consumed) }),
    ...(types(answered).length > 0 && { produces: types(answered) }),
    ...(all.length > 0 && { parameters: all }),
    responses: eachValue(objectOf(responses), (response) => toResponse(objectOf(response))),
    ...(applied.length > 0 && { security: applied }),
  };
}

/** Returns a parameter itself, instead of a reference to one of the service. */
function referenced(parameter: DataObject, { parameters }: Known): DataObject {
  const { $ref: reference } = parameter;
  return typeof reference === 'string' ? objectOf(parameters[parsePointer(reference.slice(1)).at(-1)!]) : parameter;
}

function toParameter({ schema, example: _, examples: __, ...parameter }: DataObject): DataObject {
  const { type, ...inner } = objectOf(schema);
  // In Swagger 2.0, only bodies can contain objects.
  return { ...parameter, type: type === 'object' || type === undefined ? 'string' : type, ...inner };
}

function toResponse({ description, content }: DataObject): DataObject {
  const media = Object.entries(objectOf(content));
  const samples = media.flatMap(([type, each]) => {
    const { example } = objectOf(each);
    return example === undefined ? [] : [[type, example] as const];
  });
  const hasSchema = media.some(([, each]) => objectOf(each)['schema'] !== undefined);
  return {
    description: description!,
    ...(hasSchema && { schema: schemaIn(media[0]![1]) }),
    ...(samples.length > 0 && { examples: Object.fromEntries(samples) }),
  };
}

function schemaIn(media: Data | undefined): Data {
  const { schema } = objectOf(media);
  return schema === undefined ? {} : toSchema(schema);
}

function toSchema(schema: Data): Data {
  if (!isObject(schema)) return {};
  const { $ref: reference } = schema;
  if (typeof reference === 'string') return { $ref: reference.replace('#/components/schemas/', '#/definitions/') };
  const inner = mapSchemas(schema, toSchema);
  for (const keyword of UNKNOWN) delete inner[keyword];
  if (schema['nullable'] === true) inner['x-nullable'] = true;
  const { discriminator } = schema;
  if (isObject(discriminator)) inner['discriminator'] = discriminator['propertyName'] ?? '';
  return inner;
}

function securityDefinitions(schemes: DataObject, warn: Warn): DataObject {
  return Object.fromEntries(
    Object.entries(schemes).flatMap(([name, scheme]) => {
      const definition = toDefinition(objectOf(scheme));
      if (!definition) warn(`Swagger 2.0 cannot express the security scheme "${name}"`);
      return definition ? [[name, definition]] : [];
    }),
  );
}

function toDefinition(scheme: DataObject): DataObject | undefined {
  const { type, scheme: kind, in: where, description } = scheme;
  const about: DataObject = description === undefined ? {} : { description };
  if (type === 'http' && kind === 'basic') return { type: 'basic', ...about };
  if (type === 'http') return { type: 'apiKey', in: 'header', name: 'Authorization', ...about };
  if (type === 'apiKey' && where !== 'cookie') return { type, in: where!, name: scheme['name']!, ...about };
  return type === 'oauth2' ? oauthDefinition(objectOf(scheme['flows']), about) : undefined;
}

/** Names of OAuth flows in Swagger 2.0, which allows one flow per scheme. */
const flows: Readonly<Record<string, string>> = {
  implicit: 'implicit',
  password: 'password',
  clientCredentials: 'application',
  authorizationCode: 'accessCode',
};

function oauthDefinition(written: DataObject, about: DataObject): DataObject | undefined {
  const [name, flow] = Object.entries(written).find(([each]) => Object.hasOwn(flows, each)) ?? [];
  if (name === undefined) return undefined;
  const { authorizationUrl, tokenUrl, scopes = {} } = objectOf(flow);
  return {
    type: 'oauth2',
    flow: flows[name]!,
    ...(authorizationUrl !== undefined && { authorizationUrl }),
    ...(tokenUrl !== undefined && { tokenUrl }),
    scopes,
    ...about,
  };
}

function onlyKnown(requirement: DataObject, known: DataObject): DataObject {
  return Object.fromEntries(Object.entries(requirement).filter(([name]) => Object.hasOwn(known, name)));
}
