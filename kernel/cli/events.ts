import { parseArgs } from 'node:util';
import { isObject } from '#contract';
import type { Command, CommandContext } from './command.ts';
import { printable } from './formats/excerpt.ts';
import { exitCodes } from './remote/answer.ts';
import { converse, remoteOptions, remoteUsage } from './remote/connect.ts';
import { followEvents } from './remote/follow-events.ts';
import type { ServerSentEvent } from './remote/server-sent-events.ts';

/** Prints what happens, a line an event, until it is interrupted. Exit 0 then; 3 when the gateway does not answer. */
export const events: Command = {
  usage: `[--types TYPE,...] ${remoteUsage}`,
  summary: 'Print what happens in a running gateway, until interrupted.',
  run(args, context) {
    const { values } = parseArgs({ args, options: { ...remoteOptions, types: { type: 'string' } } });
    const print = values.json ? asJson : asLine;
    return converse(values, context, async (client) => {
      for await (const event of followEvents(client, { types: values.types, signal: interruption(context) })) {
        context.stdout.write(`${print(event)}\n`);
      }
      return exitCodes.ok;
    });
  },
};

/** Aborted by SIGINT and SIGTERM, and when nobody reads the output any more. */
function interruption({ signals, stdout }: CommandContext): AbortSignal {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  signals.once('SIGINT', end);
  signals.once('SIGTERM', end);
  stdout.once('error', end);
  return ending.signal;
}

/** `{"id","type","data"}`, the data as it came. */
function asJson({ id, type, data }: ServerSentEvent): string {
  return `{"id":${Number(id)},"type":${JSON.stringify(type)},"data":${data}}`;
}

/** Number, type, and what its data says in a word. */
function asLine({ id, type, data }: ServerSentEvent): string {
  return printable(`${id.padStart(5)}  ${type.padEnd(16)}  ${wordsOf(JSON.parse(data)).join(' ')}`.trimEnd());
}

function wordsOf(data: unknown): string[] {
  if (!isObject(data)) return [String(data)];
  return Object.entries(data)
    .filter(([, value]) => value !== null && typeof value !== 'object')
    .map(([name, value]) => `${name}=${typeof value === 'string' && /\s/.test(value) ? JSON.stringify(value) : value}`);
}
