import { adminScopes, scopeMeanings, version } from '#kernel';
import type { Operation, Parameter } from '../operation.ts';
import { configSchema, type ResponseSchema } from '../schemas.ts';
import { type Components, createComponents } from './components.ts';
import { type OpenApi, type OpenApiOperation, operationIdOf, pathsOf } from './document.ts';
import { problemResponses } from './problem-responses.ts';

const TOKEN = 'token';

const scopesDescription = `Bearer token with the named scope. Scopes: ${adminScopes.map((scope) => `${scope} (${scopeMeanings[scope]})`).join(', ')}.`;

/** Describes the admin API from its operations alone. @param origin where it is served, as in `http://127.0.0.1:9180`. */
export function describeAdmin(operations: readonly Operation[], origin: string): OpenApi {
  const components = createComponents();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice admin API',
      description: 'Checks, applies and inspects the configuration of a running gateway.',
      version,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: origin }],
    paths: pathsOf(
      operations.map((operation) => [pathOf(operation), operation.method, describe(operation, components)]),
    ),
    components: {
      schemas: components.schemas,
      securitySchemes: {
        [TOKEN]: { type: 'http', scheme: 'bearer', description: scopesDescription },
      },
    },
  };
}

function describe(operation: Operation, components: Components): OpenApiOperation {
  const { method, summary, scope, openOnLoopback, parameters = [], responses } = operation;
  const needed = scope === null ? [] : [{ [TOKEN]: [scope] }];
  return {
    operationId: operationIdOf(
      method,
      pathOf(operation)
        .split('/')
        .filter((segment) => segment !== '' && segment !== 'v1'),
    ),
    summary,
    ...(parameters.length > 0 && { parameters: parameters.map(describeParameter) }),
    ...describeBody(operation, components),
    responses: Object.fromEntries(
      Object.entries({ ...responses, ...problemResponses(operation) }).map(([status, response]) => [
        status,
        describeResponse(response, components),
      ]),
    ),
    // The empty requirement makes authentication optional.
    security: openOnLoopback ? [{}, ...needed] : needed,
  };
}

function describeParameter({ required, ...parameter }: Parameter) {
  return { ...parameter, required: required ?? false };
}

function describeBody(
  { accepts, body = configSchema, bodies = {}, bodyIsOptional }: Operation,
  components: Components,
): Pick<OpenApiOperation, 'requestBody'> {
  if (!accepts) return {};
  const schemas = accepts.map((type) => [type, bodies[type] ?? body] as const);
  return { requestBody: { required: !bodyIsOptional, content: contentOf(schemas, components) } };
}

function describeResponse({ description, content }: ResponseSchema, components: Components): object {
  return { description, ...(content && { content: contentOf(Object.entries(content), components) }) };
}

function contentOf(
  schemas: readonly (readonly [mediaType: string, schema: Parameter['schema']])[],
  components: Components,
): object {
  return Object.fromEntries(schemas.map(([mediaType, schema]) => [mediaType, { schema: components.refer(schema) }]));
}

/** `/v1/revisions/:number` as `/v1/revisions/{number}`. */
export function pathOf({ path }: Pick<Operation, 'path'>): string {
  return path.replace(/[:*]([A-Za-z]+)/g, '{$1}');
}
