import type { Answer, Operation } from '../operation.ts';
import { type ProblemSlug, problemStatuses } from '../problem.ts';
import { titleOf, typeOf } from '../problem-document.ts';
import { problemSchema } from '../schemas.ts';

/** The problems that an operation may answer with, by status. */
export function problemAnswers(operation: Operation): Readonly<Record<number, Answer>> {
  const byStatus = Object.groupBy(new Set(slugsOf(operation)), (slug) => problemStatuses[slug]);
  const answers = Object.entries(byStatus).map(([status, slugs = []]) => {
    const description = slugs.map((slug) => `${slug}: ${titleOf(slug)}.`).join(' ');
    const properties = { type: { enum: slugs.map(typeOf) }, status: { const: Number(status) } };
    return [status, { description, content: { 'application/problem+json': { ...problemSchema, properties } } }];
  });
  return Object.fromEntries(answers);
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
const conditional: readonly ProblemSlug[] = ['stale', 'precondition-required'];
