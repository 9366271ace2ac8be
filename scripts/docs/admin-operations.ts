import { adminOperations } from '../../admin/api.ts';
import { pathOf } from '../../admin/openapi/admin-api.ts';
import { problemResponses } from '../../admin/openapi/problem-responses.ts';
import type { Operation } from '../../admin/operation.ts';
import { type ProblemSlug, problemStatuses } from '../../admin/problem.ts';
import { titleOf, typeOf } from '../../admin/problem-document.ts';
import { type JsonSchema, schemaName } from '../../admin/schemas.ts';
import { anchor, code, plain, table } from './markdown.ts';

/** All operations of the admin API. */
export const operations = adminOperations(() => Promise.reject(new Error('operations are only listed')));

/** Method and path of an operation. */
export function titleOfOperation(operation: Operation): string {
  return `${operation.method} ${pathOf(operation)}`;
}

/** Link to the section of an operation. @param page path of the page with the sections, as seen from the page with the link. */
export function linkToOperation(operation: Operation, page: string): string {
  const title = code(titleOfOperation(operation));
  return `[${title}](${page}#${anchor(title)})`;
}

/** The page of the operations of the admin API. */
export function operationsPage(): string {
  const segments = [
    '# Admin API',
    [
      'Operations of the admin port, with their parameters and responses. [admin/api](api.md) configures the port and explains',
      'tokens and scopes. `GET /v1/admin-openapi` describes the same as OpenAPI, with the schemas of all bodies.',
    ].join('\n'),
    ...operations.flatMap(sectionOf),
    '## Problems',
    [
      'Errors are `application/problem+json` (RFC 9457). `type` names the problem; `errors` lists what is wrong in a configuration,',
      'each with a [code](../errors.md), a JSON pointer, a message and a hint.',
    ].join('\n'),
    table(
      ['Status', 'Type', 'Title'],
      (Object.keys(problemStatuses) as ProblemSlug[]).map((slug) => [
        String(problemStatuses[slug]),
        code(typeOf(slug)),
        plain(titleOf(slug)),
      ]),
    ),
  ];
  return `${segments.join('\n\n')}\n`;
}

function sectionOf(operation: Operation): string[] {
  const { summary, scope, parameters = [], accepts, bodyIsOptional, responses } = operation;
  const failures = Object.keys(problemResponses(operation));
  return [
    `## ${code(titleOfOperation(operation))}`,
    plain(summary),
    [
      `- Scope: ${scope === null ? 'none, no token is needed' : code(scope)}`,
      ...(accepts ? [`- Body${bodyIsOptional ? ', optional' : ''}: ${accepts.map(code).join(', ')}`] : []),
      `- Problems with status ${failures.join(', ')}`,
    ].join('\n'),
    ...(parameters.length === 0
      ? []
      : [
          table(
            ['Parameter', 'In', 'Type', 'Description'],
            parameters.map((each) => [
              code(each.name),
              each.in,
              `${typeOfSchema(each.schema)}${each.required ? ', required' : ''}`,
              plain(each.description),
            ]),
          ),
        ]),
    table(
      ['Status', 'Response', 'Content'],
      Object.entries(responses).map(([status, { description, content = {} }]) => [
        status,
        plain(description),
        Object.entries(content)
          .map(([type, schema]) => [code(type), nameOf(schema)].filter(Boolean).join(' '))
          .join(', '),
      ]),
    ),
  ];
}

function typeOfSchema({ type, enum: words }: JsonSchema): string {
  return Array.isArray(words) ? words.map((word) => code(String(word))).join(' or ') : String(type ?? 'any');
}

function nameOf(schema: JsonSchema): string {
  const name = schema[schemaName];
  return typeof name === 'string' ? `(${name})` : '';
}
