import { type Data, type DataObject, type EndpointConfig, isObject, joinPointer } from '#contract';
import { isWildcard, namesIn, plainPath, variablesOf } from '../../lib/endpoints.ts';
import type { OpenApiSettings, ParameterDefinition } from '../schema.ts';
import { examplesOf } from './bodies.ts';

/** Headers that OpenAPI describes by other means: it ignores parameters with these names. */
const describedElsewhere = new Set(['accept', 'authorization', 'content-type']);

/** A kind of parameter: where it is documented, and the endpoint's list of it. */
interface ParameterKind {
  readonly in: 'path' | 'query' | 'header';
  readonly field: 'param_definition' | 'query_definition' | 'header_definition';
  readonly namesOf: (endpoint: EndpointConfig) => readonly string[];
  /** Normalizes a name: equal keys are spellings of the same name. */
  readonly keyOf: (name: string) => string;
}

const kinds: readonly ParameterKind[] = [
  {
    in: 'path',
    field: 'param_definition',
    namesOf: (endpoint) => variablesOf(plainPath(endpoint)),
    keyOf: (name) => name,
  },
  {
    in: 'query',
    field: 'query_definition',
    namesOf: ({ input_query_strings: names }) => namesIn(names),
    keyOf: (name) => name,
  },
  {
    in: 'header',
    field: 'header_definition',
    namesOf: ({ input_headers: names }) => namesIn(names),
    keyOf: (name) => name.toLowerCase(),
  },
];

/** A documented parameter that does not apply. */
export interface ParameterFault {
  /** JSON pointer of the error, relative to the settings. */
  readonly pointer: string;
  readonly message: string;
}

/**
 * Finds documented parameters that the endpoint does not have, or that a path cannot have.
 * @param shared of the service. Default: none, so that references are not compared.
 */
export function parameterFaults(
  endpoint: EndpointConfig,
  settings: OpenApiSettings,
  shared: SharedParameters = {},
): ParameterFault[] {
  return kinds.flatMap(({ in: where, field, namesOf, keyOf }) => {
    const names = new Set(namesOf(endpoint).map(keyOf));
    const foreign = sharedOf(settings, shared).flatMap(([name, parameter], index): ParameterFault[] => {
      if (parameter['in'] !== where || names.has(keyOf(String(parameter['name'])))) return [];
      const message = `"${name}" describes the ${where} parameter '${parameter['name']}', which the endpoint does not have`;
      return [{ pointer: `/components_parameters/${index}`, message }];
    });
    const own = (settings[field] ?? []).flatMap(
      ({ name, required, hide }: ParameterDefinition, index): ParameterFault[] => {
        const pointer = `/${field}/${index}`;
        if (!names.has(keyOf(name))) {
          return [{ pointer: `${pointer}/name`, message: `the endpoint has no ${where} parameter '${name}'` }];
        }
        if (where !== 'path') return [];
        return [
          ...(required === false
            ? [{ pointer: `${pointer}/required`, message: 'path parameters cannot be optional' }]
            : []),
          ...(hide ? [{ pointer: `${pointer}/hide`, message: 'path parameters cannot be excluded' }] : []),
        ];
      },
    );
    return [...own, ...foreign];
  });
}

/**
 * Describes the parameters of an operation: path variables, then query strings, then headers.
 * @param spelled the path in the document, whose variable names may differ from the endpoint's.
 * @param everyHeader include headers that OpenAPI 3 describes by other means.
 */
export function describeParameters(
  endpoint: EndpointConfig,
  settings: OpenApiSettings,
  spelled: string,
  everyHeader: boolean,
  shared: SharedParameters,
): DataObject[] {
  const names = variablesOf(spelled);
  const listed = sharedOf(settings, shared);
  const own = kinds.flatMap((kind) => {
    const { in: where, field, namesOf, keyOf } = kind;
    const definitions: readonly ParameterDefinition[] = settings[field] ?? [];
    return namesOf(endpoint).flatMap((name, index): DataObject[] => {
      const definition = definitions.find((each) => keyOf(each.name) === keyOf(name)) ?? { name };
      if (where === 'path') {
        const isLast = isWildcard(endpoint) && index === names.length - 1;
        return [{ ...describe(definition, names[index]!, where), ...(isLast && { 'x-wildcard': true }) }];
      }
      if (definition.hide || (where === 'header' && !everyHeader && describedElsewhere.has(keyOf(name)))) return [];
      return [describe(definition, name, where)];
    });
  });
  const isReplaced = (parameter: DataObject) => listed.some(([, other]) => isSame(parameter, other));
  return [
    ...own.filter((parameter) => !isReplaced(parameter)),
    ...listed.map(([name]): DataObject => ({ $ref: joinPointer('#/components/parameters', name) })),
  ];
}

/** Parameter objects that the service defines, by name. */
export type SharedParameters = Readonly<Record<string, DataObject>>;

/** Returns the parameters that the service defines. */
export function sharedParameters({ components_parameters: parameters }: OpenApiSettings): SharedParameters {
  return isObject(parameters) ? (parameters as SharedParameters) : {};
}

/** Returns the parameters of the service that an endpoint lists. */
function sharedOf({ components_parameters: names }: OpenApiSettings, shared: SharedParameters) {
  const list: readonly string[] = Array.isArray(names) ? names : [];
  return list.flatMap((name) => (Object.hasOwn(shared, name) ? [[name, shared[name]!] as const] : []));
}

function isSame(one: DataObject, other: DataObject): boolean {
  if (one['in'] !== other['in']) return false;
  const [name, otherName] = [String(one['name']), String(other['name'])];
  return one['in'] === 'header' ? name.toLowerCase() === otherName.toLowerCase() : name === otherName;
}

function describe(definition: ParameterDefinition, name: string, where: ParameterKind['in']): DataObject {
  const { description, required = false } = definition;
  return {
    name,
    in: where,
    ...(description !== undefined && { description }),
    required: where === 'path' || required,
    schema: schemaOf(definition),
    ...examplesOf(definition),
  };
}

/** Types that JSON Schema expresses as formats. */
const written: Readonly<Record<string, DataObject>> = {
  float: { type: 'number', format: 'float' },
  'date-time': { type: 'string', format: 'date-time' },
};

function schemaOf({ type = 'string', format, enum: values }: ParameterDefinition): DataObject {
  const schema: DataObject = {
    ...(written[type] ?? { type }),
    ...(format && { format }),
  };
  const choice: DataObject = values && values.length > 0 ? { enum: [...values] as Data[] } : {};
  if (type === 'array') return { ...schema, items: { type: 'string', ...choice } };
  return { ...schema, ...choice };
}
