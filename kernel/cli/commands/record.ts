import type { Flags } from '#contract';
import { replaceFile } from '../../config/index.ts';
import { parseCount, readArguments, UsageError } from '../arguments.ts';
import { adminVariables, type Command } from '../command.ts';
import { cannotWrite } from '../files/file-errors.ts';
import { counted } from '../formats/counted.ts';
import { exitCodes, isRefusal } from '../remote/client.ts';
import { converse, remoteFlags } from '../remote/connect.ts';
import { printRefusal, readBody } from '../remote/show.ts';

/** Readable by the user only, because recordings contain the data of clients. */
const FILE_MODE = 0o600;

const { json: _, ...connecting } = remoteFlags;

const flags = {
  number: { type: 'string', short: 'n', value: 'NUMBER', otherwise: '100', about: 'Maximum number of requests.' },
  output: {
    type: 'string',
    short: 'o',
    value: 'FILE',
    otherwise: 'standard output',
    about: 'File to write. A new file has mode 0600.',
  },
  ...connecting,
} as const satisfies Flags;

/** An entry of a recording, with the fields that the command reads. */
interface Entry {
  readonly _sluice?: { readonly backend?: number };
}

/** A recording. Every field may be absent, because a server other than a gateway may respond with anything. */
interface Har {
  readonly log?: { readonly entries?: readonly Entry[] } | null;
}

/** Writes the latest requests that telemetry/recorder keeps in memory. */
export const record: Command = {
  usage: '',
  flags,
  variables: adminVariables,
  summary: 'Save the latest recorded requests of a running gateway as a HAR file.',
  details:
    'The configuration of the gateway must contain a component that records. The token needs the scope "secrets".',
  run(args, context) {
    const { values } = readArguments(args, flags, false);
    const limit = values.number === undefined ? undefined : parseCount(values.number, 'a number of requests');
    if (limit === 0) throw new UsageError('-n must be at least 1');
    return converse({ ...values, json: false }, context, async (client) => {
      const response = await client.ask({ path: '/v1/recordings', query: { limit } });
      const har = isRefusal(response.status) ? null : readBody<Har>(response);
      const entries = har?.log?.entries;
      if (!Array.isArray(entries)) {
        printRefusal(context, response);
        return exitCodes.refused;
      }
      if (values.output === undefined) {
        context.stdout.write(response.text);
        return exitCodes.ok;
      }
      try {
        await replaceFile(values.output, response.text, FILE_MODE);
      } catch (error) {
        context.stderr.write(`${cannotWrite(values.output, error)}\n`);
        return exitCodes.refused;
      }
      context.stdout.write(`${values.output}: ${describe(entries)}\n`);
      return exitCodes.ok;
    });
  },
};

function describe(entries: readonly Entry[]): string {
  const calls = entries.filter((entry) => entry?._sluice?.backend !== undefined).length;
  return `${counted(entries.length - calls, 'request')}, ${counted(calls, 'call')} of backends`;
}
