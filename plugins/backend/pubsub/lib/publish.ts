import { type BackendSite, type Call, HeaderBag, type PipeRequest, type Protocol, Reply, toCallError } from '#contract';
import type { Message, Publisher } from '../../../clients/broker/message.ts';

/** Converts requests to messages, and replies once the broker has accepted them. */
export interface Publishing {
  readonly publisher: Publisher;
  /** Status of the reply. Default: 200. */
  readonly status?: number;
  /** Builds the message of a request, without its payload. */
  readonly describe: (request: PipeRequest) => Omit<Message, 'payload'>;
}

const nothing = new Uint8Array();

/** Publishes the body of each request as a message. */
export function publishing(site: BackendSite<unknown>, { publisher, status = 200, describe }: Publishing): Protocol {
  warnOfSeveral(site, 'every message is published');
  const reply = repliesRaw(site)
    ? () => Reply.raw(status, new HeaderBag(), nothing)
    : () => {
        const empty = Reply.data({}, false);
        empty.status = status;
        return empty;
      };
  return {
    hostless: true,
    replies: 'data',
    async call(request: PipeRequest, call: Call) {
      try {
        const payload = (await request.body?.bytes()) ?? nothing;
        await publisher.send({ payload, ...describe(request) }, call);
        return reply();
      } catch (error) {
        return Reply.failed(call.reason ? toCallError(call.reason) : toCallError(error));
      }
    },
  };
}

/** Whether the reply is passed through undecoded. */
export function repliesRaw({ endpoint, backend, encoding }: BackendSite<unknown>): boolean {
  return [endpoint.output_encoding, backend.encoding].some((name) => encoding(name)?.raw);
}

/** Warns of concurrent calls: a request that is sent several times produces several messages. */
export function warnOfSeveral({ endpoint, warn }: BackendSite<unknown>, what: string): void {
  const { concurrent_calls: calls } = endpoint;
  if (calls > 1)
    warn('PUBSUB_CONCURRENT', '', `${what} ${calls} times, because the endpoint has "concurrent_calls": ${calls}`);
}
