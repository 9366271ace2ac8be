import type Koa from 'koa';
import type { Data } from '#contract';
import { ConfigText, type Operations, type Revision, type RevisionSummary, readSnapshot } from '#kernel';
import { reachOf } from '../caller.ts';
import { compare, differenceSchema, sideOf } from '../comparing.ts';
import { isRevealing, shown } from '../keep-secrets.ts';
import type { Operation, Parameter } from '../operation.ts';
import { pageOf, pageParameters } from '../paging.ts';
import { changeHeaders, numberInPath, pathNumber, queryFlag, revealParameter } from '../parameters.ts';
import { configProblems, type ProblemSlug } from '../problem.ts';
import { demandRevision, revisionAt, snapshotOf } from '../revision-at.ts';
import { flag, jsonResponse, listOf, objectOf, objectWith, oneOf, orNull, text, whole } from '../schemas.ts';

const members = {
  number: whole,
  hash: text,
  at: text,
  source: oneOf(['start', 'file', 'api', 'rollback', 'guard', 'resume', 'secret']),
  actor: orNull(text),
  message: orNull(text),
  result: oneOf(['applied', 'rolled-back']),
  reason: orNull(text),
  pinned: flag,
  format: oneOf(['json', 'yaml', 'toml']),
  files: listOf(text),
  active: flag,
};
const revisionSchema = objectWith('Revision', { ...members, content: text }, ...Object.keys(members));

/** Problems of operations with a revision in the path. */
const missing: readonly ProblemSlug[] = ['not-found', 'gone'];

const contentParameter: Parameter = {
  name: 'content',
  in: 'query',
  description: 'Includes the configuration itself, with secrets masked.',
  schema: { type: 'boolean', default: false },
};

export const listRevisions: Operation = {
  method: 'GET',
  path: '/v1/revisions',
  scope: 'read',
  summary: 'List the revisions, newest first.',
  parameters: [contentParameter, revealParameter, ...pageParameters],
  responses: {
    200: jsonResponse('A page.', objectOf('RevisionPage', { revisions: listOf(revisionSchema), cursor: orNull(text) })),
  },
  async handle(ctx, { gateway }) {
    const { items, cursor } = pageOf(ctx, gateway.revisions.list(), ({ number }) => String(number));
    const withContent = queryFlag(ctx, 'content');
    const views = items.map(async (summary) => {
      const match = withContent ? await gateway.revisions.get(summary.number) : undefined;
      return typeof match === 'object' ? viewWithContent(ctx, gateway, match) : view(gateway, summary);
    });
    ctx.body = { revisions: await Promise.all(views), cursor };
  },
};

export const readRevision: Operation = {
  method: 'GET',
  path: '/v1/revisions/:number',
  scope: 'read',
  summary: 'Show a revision.',
  parameters: [numberInPath('number', 'The revision.'), contentParameter, revealParameter],
  responses: { 200: jsonResponse('The revision.', revisionSchema) },
  problems: missing,
  async handle(ctx, { gateway }) {
    const revision = await revisionAt(gateway, pathNumber(ctx, 'number'));
    ctx.body = queryFlag(ctx, 'content') ? await viewWithContent(ctx, gateway, revision) : view(gateway, revision);
  },
};

export const diffRevisions: Operation = {
  method: 'GET',
  path: '/v1/revisions/:from/diff/:to',
  scope: 'read',
  summary: 'Compare two revisions.',
  parameters: [
    numberInPath('from', 'Revision with which the comparison starts.'),
    numberInPath('to', 'Revision with which the comparison ends.'),
    revealParameter,
  ],
  responses: { 200: jsonResponse('The difference.', differenceSchema) },
  problems: [...missing, ...configProblems],
  async handle(ctx, { gateway }) {
    const from = await snapshotOf(gateway, pathNumber(ctx, 'from'));
    const to = await snapshotOf(gateway, pathNumber(ctx, 'to'));
    const difference = compare(
      ctx,
      gateway,
      await sideOf(gateway, from, reachOf(ctx)),
      await sideOf(gateway, to, reachOf(ctx)),
    );
    ctx.body = { ...difference, streamsAffected: 0 };
  },
};

const pin = (method: 'PUT' | 'DELETE', pinned: boolean, summary: string): Operation => ({
  method,
  path: '/v1/revisions/:number/pin',
  scope: 'write',
  summary,
  parameters: [numberInPath('number', 'The revision.'), ...changeHeaders],
  responses: { 204: { description: 'The revision is in the requested state, whether or not it was before.' } },
  problems: missing,
  changes: true,
  async handle(ctx, { gateway }) {
    const number = pathNumber(ctx, 'number');
    demandRevision(await gateway.revisions.pin(number, pinned), number);
    ctx.status = 204;
  },
});

export const pinRevision = pin('PUT', true, 'Pin a revision, so that it is never pruned.');
export const unpinRevision = pin('DELETE', false, 'Unpin a revision.');

function view({ status }: Operations, summary: RevisionSummary): object {
  const { number, hash, at, source, actor, message, result, reason, pinned, format, files } = summary;
  const active = number === status.revision;
  return { number, hash, at, source, actor, message, result, reason, pinned, format, files, active };
}

async function viewWithContent(ctx: Koa.Context, gateway: Operations, revision: Revision): Promise<object> {
  return { ...view(gateway, revision), ...(await contentOf(ctx, gateway, revision)) };
}

/** Content of a revision: its original text, when the request may see secrets; otherwise its data as YAML or JSON, because comments may contain secrets. */
async function contentOf(
  ctx: Koa.Context,
  { components }: Operations,
  { text: content, format }: Revision,
): Promise<object> {
  if (isRevealing(ctx)) return { content };
  const { data } = await readSnapshot(new ConfigText(content, format), undefined, 'aside');
  // All components are loaded, because an old revision may name components that the serving configuration does not use.
  await components.load();
  const masked = shown(ctx, { components }, data as Data);
  if (format === 'yaml') return { content: (await import('../print-yaml.ts')).printYaml(masked) };
  return { content: `${JSON.stringify(masked, null, 2)}\n`, format: 'json' };
}
