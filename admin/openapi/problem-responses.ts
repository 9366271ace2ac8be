import type { Operation } from '../operation.ts';
import { type ProblemSlug, problemStatuses } from '../problem.ts';
import { titleOf, typeOf } from '../problem-document.ts';
import { type JsonSchema, named, problemSchema, type ResponseSchema } from '../schemas.ts';

/** Problems that an operation may respond with, by status. */
export function problemResponses(operation: Operation): Readonly<Record<number, ResponseSchema>> {
  const byStatus = Object.groupBy(new Set(slugsOf(operation)), (slug) => problemStatuses[slug]);
  const responses = Object.entries(byStatus).map(([status, slugs = []]) => {
    const description = slugs.map((slug) => `${slug}: ${titleOf(slug)}.`).join(' ');
    const schemas = slugs.map((slug) => schemaOfSlug[slug]);
    const schema = schemas.length === 1 ? schemas[0]! : { anyOf: schemas };
    return [status, { description, content: { 'application/problem+json': schema } }];
  });
  return Object.fromEntries(responses);
}

/** Schema of one kind of problem. */
function schemaOf(slug: ProblemSlug): JsonSchema {
  const kind = {
    type: 'object',
    properties: { type: { const: typeOf(slug) }, status: { const: problemStatuses[slug] } },
    required: ['type', 'status'],
    additionalProperties: true,
  };
  return named(`${pascalCase(slug)}Problem`, { allOf: [problemSchema, kind] });
}

const schemaOfSlug = Object.fromEntries(
  (Object.keys(problemStatuses) as ProblemSlug[]).map((slug) => [slug, schemaOf(slug)]),
) as Readonly<Record<ProblemSlug, JsonSchema>>;

function pascalCase(slug: string): string {
  return slug.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function slugsOf({ scope, accepts, changes, problems = [] }: Operation): ProblemSlug[] {
  return [
    ...everywhere,
    ...(scope === null ? [] : guarded),
    ...(accepts ? withBody : []),
    ...(changes ? conditional : []),
    ...problems,
  ];
}

const everywhere: readonly ProblemSlug[] = ['bad-request', 'forbidden', 'origin', 'misdirected-request', 'internal'];
const guarded: readonly ProblemSlug[] = ['unauthorized', 'insufficient-scope', 'too-many-requests'];
const withBody: readonly ProblemSlug[] = ['syntax', 'payload-too-large', 'unsupported-media-type'];
const conditional: readonly ProblemSlug[] = ['stale', 'precondition-required', 'idempotency-key-reused'];
