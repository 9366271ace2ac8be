import { Call, HeaderBag, type PipeRequest, Reply } from '#contract';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/modifier/martian/index.ts';
import { pipeRequest, type Sent, textOf } from '../../backend/http-client.ts';

/** Response of a backend. */
export interface BackendReply {
  readonly status?: number;
  readonly headers?: string[];
  readonly body?: string;
}

/** One call through modifiers: the backend's request and the client's response. */
export interface Exchanged {
  readonly request: PipeRequest;
  readonly target: string;
  readonly origin: string;
  readonly host: string | null;
  readonly headers: string[];
  readonly body: string;
  readonly reply: Reply;
  readonly replied: string[];
  readonly text: string;
}

/** Calls `http://h1/x` through a modifier. */
export async function through(config: unknown, sent: Partial<Sent> = {}, given: BackendReply = {}): Promise<Exchanged> {
  const gate = await openHarness(plugin, 'backend', config);
  const request = pipeRequest({ origin: 'http://h1', target: '/x', ...sent });
  const { status = 200, headers = [], body = '{"x":2}' } = given;
  let sentBody = '';
  const send = gate.attached.transport!(async (given) => {
    sentBody = Buffer.from((await given.body?.bytes()) ?? []).toString();
    return Reply.raw(status, new HeaderBag(headers), Buffer.from(body));
  });
  const reply = await send(request, new Call());
  const { target, origin, host, headers: bag } = request;
  const seen = { request, target, origin, host, headers: bag.list, body: sentBody };
  await gate.close();
  return { ...seen, reply, replied: reply.headers.list, text: await textOf(reply) };
}

/** Errors of a configuration, as pointer and message. */
export async function issuesOf(config: unknown): Promise<string[]> {
  try {
    const gate = await openHarness(plugin, 'backend', config);
    await gate.close();
    return [];
  } catch (error) {
    return (error as { errors: { pointer: string; message: string }[] }).errors.map(
      ({ pointer, message }) => `${pointer || '/'} ${message}`,
    );
  }
}

/** Warnings of `check`. */
export async function warningsOf(config: unknown): Promise<string[]> {
  const gate = await openHarness(plugin, 'backend', config);
  await gate.close();
  return gate.warnings.map(({ pointer, message }) => `${pointer || '/'} ${message}`);
}
