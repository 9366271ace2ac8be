import { type Flags, isObject } from '#contract';
import { readArguments } from '../arguments.ts';
import { adminVariables, type Command, type CommandContext } from '../command.ts';
import { printable } from '../formats/excerpt.ts';
import { exitCodes } from '../remote/client.ts';
import { converse, remoteFlags } from '../remote/connect.ts';
import { followEvents, type ServerSentEvent } from '../remote/follow-events.ts';

const flags = {
  types: {
    type: 'string',
    value: 'TYPES',
    otherwise: 'all',
    about: 'Event types to send, separated by commas. `reload.*` selects all types with that prefix.',
  },
  ...remoteFlags,
} as const satisfies Flags;

/** Prints events, one per line, until interrupted. Exit code 0 when interrupted; 3 when the gateway does not respond. */
export const events: Command = {
  usage: '',
  flags,
  variables: adminVariables,
  summary: 'Print the events of a running gateway until interrupted.',
  run(args, context) {
    const { values } = readArguments(args, flags);
    const print = values.json ? asJson : asLine;
    return converse(values, context, async (client) => {
      for await (const event of followEvents(client, { types: values.types, signal: interruption(context) })) {
        context.stdout.write(`${print(event)}\n`);
      }
      return exitCodes.ok;
    });
  },
};

/** Returns a signal that aborts on SIGINT and SIGTERM, and when the reader of the output has closed it. */
function interruption({ signals, stdout }: CommandContext): AbortSignal {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  signals.once('SIGINT', end);
  signals.once('SIGTERM', end);
  stdout.once('error', end);
  return ending.signal;
}

/** Formats an event as `{"id","type","data"}`, with the data as received. */
function asJson({ id, type, data }: ServerSentEvent): string {
  return `{"id":${Number(id)},"type":${JSON.stringify(type)},"data":${data}}`;
}

/** Formats an event as number, type and its data as short text. */
function asLine({ id, type, data }: ServerSentEvent): string {
  return printable(`${id.padStart(5)}  ${type.padEnd(16)}  ${wordsOf(JSON.parse(data)).join(' ')}`.trimEnd());
}

function wordsOf(data: unknown): string[] {
  if (!isObject(data)) return [String(data)];
  return Object.entries(data)
    .filter(([, value]) => value !== null && typeof value !== 'object')
    .map(([name, value]) => `${name}=${typeof value === 'string' && /\s/.test(value) ? JSON.stringify(value) : value}`);
}
