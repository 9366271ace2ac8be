import type { Flags } from '#contract';
import { parseCount, readArguments, UsageError } from '../arguments.ts';
import { adminVariables, type Command } from '../command.ts';
import type { RevisionBody } from '../remote/bodies.ts';
import { converse, remoteFlags } from '../remote/connect.ts';
import { type Described, showResponse } from '../remote/show.ts';
import { alignColumns } from '../terminal.ts';

const flags = {
  limit: { type: 'string', value: 'NUMBER', otherwise: '50', about: 'Maximum number of revisions to list.' },
  ...remoteFlags,
} as const satisfies Flags;

/** Lists the revisions of a gateway, newest first, or shows one. */
export const history: Command = {
  usage: '[REVISION]',
  flags,
  variables: adminVariables,
  summary: 'List the revisions of a running gateway.',
  run(args, context) {
    const { values, positionals } = readArguments(args, flags, true);
    const [number, ...others] = positionals;
    if (others.length > 0) throw new UsageError('at most one revision can be given');
    const limit = values.limit === undefined ? undefined : parseCount(values.limit, 'a number of revisions');
    const revision = number === undefined ? undefined : parseCount(number, 'a revision');
    return converse(values, context, async (client) =>
      revision === undefined
        ? showResponse(context, await client.ask({ path: '/v1/revisions', query: { limit } }), values.json, describeAll)
        : showResponse(context, await client.ask({ path: `/v1/revisions/${revision}` }), values.json, describeOne),
    );
  },
};

const heading = ['REVISION', 'AT', 'FROM', 'BY', 'RESULT', 'MESSAGE'];

function describeAll({ revisions }: { readonly revisions: readonly RevisionBody[] }): Described {
  return { lines: alignColumns([heading, ...revisions.map(rowOf)]) };
}

function rowOf(revision: RevisionBody): string[] {
  const { number, at, source, actor, message } = revision;
  return [String(number), at, source, actor ?? '', resultOf(revision), message ?? ''];
}

function resultOf({ active = false, result, pinned }: RevisionBody): string {
  return `${active ? 'serves' : result}${pinned ? ', pinned' : ''}`;
}

function describeOne(revision: RevisionBody): Described {
  const { number, hash, at, source, actor, message, reason, files = [] } = revision;
  const rows = [
    ['revision', `${number}-${hash.slice(0, 12)}`],
    ['at', at],
    ['from', source],
    ['by', actor],
    ['result', resultOf(revision)],
    ['reason', reason],
    ['message', message],
    ...files.map((file) => ['read', file]),
  ];
  return { lines: alignColumns(rows.filter((row): row is string[] => row[1] !== null)) };
}
