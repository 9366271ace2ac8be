import type { Flags } from '#contract';
import type { ShadowReport } from '../../control/shadow-report.ts';
import { readArguments } from '../arguments.ts';
import { adminVariables, type Command } from '../command.ts';
import { converse, remoteFlags } from '../remote/connect.ts';
import { describeShadow } from '../remote/shadow.ts';
import { showResponse } from '../remote/show.ts';

const flags = {
  stop: { type: 'boolean', about: 'End the run early. Requires a token with the scope "write".' },
  ...remoteFlags,
} as const satisfies Flags;

/** Shows the current shadow run, or the last one. Exit code 1 if none has been started. */
export const shadow: Command = {
  usage: '',
  flags,
  variables: adminVariables,
  summary: 'Show the shadow run of a running gateway, or end it.',
  details:
    'sluice reload --shadow starts a shadow run. Exit codes: 0 the run was shown or ended, 1 no run has been started, 3 no gateway responded.',
  run(args, context) {
    const { values } = readArguments(args, flags);
    const method = values.stop ? 'DELETE' : 'GET';
    return converse(values, context, async (client) =>
      showResponse<ShadowReport>(context, await client.ask({ method, path: '/v1/shadow' }), values.json, (report) => ({
        lines: describeShadow(report),
      })),
    );
  },
};
