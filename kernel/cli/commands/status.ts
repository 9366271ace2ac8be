import { readArguments } from '../arguments.ts';
import { adminVariables, type Command } from '../command.ts';
import type { StatusBody } from '../remote/bodies.ts';
import { converse, remoteFlags } from '../remote/connect.ts';
import { guardWords } from '../remote/guard.ts';
import { type Described, sentenceOf, showResponse } from '../remote/show.ts';
import { alignColumns } from '../terminal.ts';

/** Shows the active configuration. Exit code 0 when the gateway responds, whatever its state. */
export const status: Command = {
  usage: '',
  flags: remoteFlags,
  variables: adminVariables,
  summary: 'Show the configuration of a running gateway and the outcome of its last reload.',
  run(args, context) {
    const { values } = readArguments(args, remoteFlags);
    return converse(values, context, async (client) =>
      showResponse(context, await client.ask({ path: '/v1/status' }), values.json, describe),
    );
  },
};

function describe(body: StatusBody): Described {
  const { state, revision, hash, version, startedAt, endpoints, workers, converged, requiresRestart = [] } = body;
  const rows = [
    ['state', state],
    [
      'revision',
      `${revision}-${hash.slice(0, 12)}${body.drift ? ', the file differs from the active configuration' : ''}`,
    ],
    ['source', body.sourceFile ?? body.source],
    ['endpoints', String(endpoints)],
    ['workers', `${workers}${converged ? '' : ', some of which still use another revision'}`],
    ['version', version],
    ['started', startedAt],
    ['last reload', lastReload(body)],
    ['guard', body.guard ? guardWords(body.guard) : 'none'],
    ['watching', watching(body)],
    ['secrets', secretWords(body)],
    ...requiresRestart.map((setting) => ['needs restart', setting]),
  ];
  return { lines: alignColumns(rows), issues: body.lastReload?.problem?.errors ?? [] };
}

function lastReload({ lastReload: last }: StatusBody): string {
  if (!last) return 'none';
  const { result, trigger, at, durationMs, problem } = last;
  const why = problem ? `: ${sentenceOf(problem)}` : '';
  return `${result} (${trigger}) ${at}, ${durationMs} ms${why}`;
}

/** Describes the secrets from stores; a gateway of an older release reports none. */
function secretWords({ secrets: { inUse, failing } = { inUse: 0, failing: [] } }: StatusBody): string {
  const failures = failing.map(({ secret, reason }) => `${secret} is not available: ${reason}`);
  return [inUse === 0 ? 'none' : `${inUse} from stores`, ...failures].join('; ');
}

function watching({ watch: { enabled, files, mode } }: StatusBody): string {
  return enabled ? `${files} files${mode === null ? '' : ` (${mode})`}` : 'nothing';
}
