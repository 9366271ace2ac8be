import { version } from '#kernel';
import type { Operation, Parameter } from '../operation.ts';
import { listOf, objectWith, place, text, whole } from '../schemas.ts';
import { type OpenApi, type OpenApiOperation, operationIdOf, pathsOf } from './document.ts';
import { problemAnswers } from './problem-answers.ts';

const TOKEN = 'token';

/** Describes the admin API from its operations alone. */
export function describeAdmin(operations: readonly Operation[]): OpenApi {
  return {
    openapi: '3.1.0',
    info: { title: 'Sluice admin API', version },
    paths: pathsOf(operations.map((operation) => [pathOf(operation), operation.method, describe(operation)])),
    components: {
      schemas: { Problem: problem },
      securitySchemes: { [TOKEN]: { type: 'http', scheme: 'bearer', description: 'A token with the scope named.' } },
    },
  };
}

/** A stretch of the configuration. */
const span = { ...place, endLine: whole, endColumn: whole };

const issue = objectWith(
  {
    ...span,
    severity: text,
    code: text,
    namespace: text,
    message: text,
    value: text,
    hint: text,
    related: listOf(objectWith({ ...span, message: text }, 'pointer')),
  },
  'pointer',
  'severity',
  'code',
  'namespace',
  'message',
);

/** RFC 9457. */
const problem = objectWith(
  {
    type: text,
    title: text,
    status: whole,
    detail: text,
    instance: text,
    requestId: text,
    attempt: whole,
    phase: text,
    revision: whole,
    errors: listOf(issue),
    errorsTruncated: whole,
    warnings: listOf(issue),
  },
  'type',
  'title',
  'status',
  'detail',
);

function describe(operation: Operation): OpenApiOperation {
  const { method, summary, scope, openOnLoopback, accepts, body, parameters = [], answers } = operation;
  const needed = scope === null ? [] : [{ [TOKEN]: [scope] }];
  return {
    operationId: operationIdOf(
      method,
      pathOf(operation)
        .split('/')
        .filter((part) => part !== '' && part !== 'v1'),
    ),
    summary,
    ...(parameters.length > 0 && { parameters: parameters.map(describeParameter) }),
    ...(accepts && { requestBody: { content: contentOf(accepts.map((type) => [type, body ?? {}])) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries({ ...answers, ...problemAnswers(operation) }).map(([status, { description, content }]) => [
          status,
          { description, ...(content && { content: contentOf(Object.entries(content)) }) },
        ]),
      ),
    },
    // An empty one among several says that none is needed.
    security: openOnLoopback ? [{}, ...needed] : needed,
  };
}

function describeParameter({ required, ...parameter }: Parameter) {
  return { ...parameter, required: required ?? false };
}

function contentOf(schemas: readonly (readonly [mediaType: string, schema: object])[]): object {
  return Object.fromEntries(schemas.map(([mediaType, schema]) => [mediaType, { schema }]));
}

/** `/v1/revisions/:number` as `/v1/revisions/{number}`. */
function pathOf({ path }: Operation): string {
  return path.replace(/[:*]([A-Za-z]+)/g, '{$1}');
}
