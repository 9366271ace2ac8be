import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { OpenApi, OpenApiOperation } from '../../../admin/openapi/document.ts';
import type { Answered } from '../support.ts';

/** The OpenAPI document of the admin API, used to validate responses. */
export interface Description {
  /** Documented operations, by method and path such as `GET /v1/status`. */
  readonly operations: ReadonlyMap<string, OpenApiOperation>;
  /** Differences between a response and its description; empty for a response that matches. */
  differences(operation: string, response: Pick<Answered, 'status' | 'headers' | 'text'>): string[];
}

interface Response {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

/** Reads the operations of an OpenAPI document. In a response, members that no schema lists count as differences. */
export function readDescription(document: OpenApi): Description {
  const { paths, components } = closed(document) as OpenApi;
  const ajv = new Ajv2020({ allErrors: true, strict: true, strictTypes: false, strictRequired: false });
  ajv.addVocabulary(['components']);
  const validators = new Map<object, ValidateFunction>();
  const validatorOf = (schema: object): ValidateFunction => {
    const validator = validators.get(schema) ?? ajv.compile({ components, allOf: [schema] });
    validators.set(schema, validator);
    return validator;
  };
  const operations = new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) => [`${method.toUpperCase()} ${path}` as string, operation] as const,
      ),
    ),
  );
  return {
    operations,
    differences(name, { status, headers, text }) {
      const response = operations.get(name)!.responses[status] as Response | undefined;
      if (!response) return [`status ${status} is not described`];
      const type = headers['content-type']?.split(';')[0];
      if (!response.content) return type === undefined && text === '' ? [] : [`a body of ${type}, described is none`];
      const described = response.content[type ?? ''];
      if (!described) return [`the type ${type} is not described`];
      const validator = validatorOf(described.schema);
      const isValid = validator(/json$/.test(type!) ? JSON.parse(text) : text);
      return isValid
        ? []
        : validator.errors!.map(({ instancePath, message, params }) => {
            return `${instancePath} ${message} ${JSON.stringify(params)}`;
          });
    },
  };
}

/** A copy of a schema in which objects must not have undeclared members. */
function closed(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => closed(item));
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, closed(item, name)]));
  const isSchema = key !== 'properties' && 'properties' in value && !('additionalProperties' in value);
  return isSchema ? { ...copy, unevaluatedProperties: false } : copy;
}
