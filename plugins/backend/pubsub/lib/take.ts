import {
  BackendError,
  type BackendSite,
  type Call,
  HeaderBag,
  type Log,
  meterOf,
  type PipeRequest,
  type Protocol,
  Reply,
  toCallError,
} from '#contract';
import type { Delivery, Subscriber } from '../../../clients/broker/message.ts';
import { repliesRaw, warnOfSeveral } from './publish.ts';

/** Converts messages to replies. */
export interface Taking {
  readonly subscriber: Subscriber;
  readonly log: Log;
  /** Reply header that contains the message key. */
  readonly keyHeader?: string | undefined;
}

/** Responds to each request with the next message. */
export function taking(site: BackendSite<unknown>, { subscriber, log, keyHeader }: Taking): Protocol {
  warnOfSeveral(site, 'a request consumes messages');
  const isRaw = repliesRaw(site);
  const { backend } = site;
  const encoding = site.encoding(backend.encoding);
  const undecoded = meterOf(site)?.counter('pubsub.undecoded', {
    description: 'Number of messages that could not be decoded.',
  });
  const read = (delivery: Delivery): Reply => {
    const { payload, key } = delivery;
    const headers = new HeaderBag(keyHeader !== undefined && key !== undefined ? [keyHeader, key] : []);
    if (isRaw) {
      delivery.accept();
      return Reply.raw(200, headers, payload);
    }
    const data = payload.length > 0 ? encoding!.decode!(payload, backend.is_collection ?? false) : {};
    delivery.accept();
    const reply = Reply.data(data, data !== null && payload.length > 0);
    reply.headers = headers;
    return reply;
  };
  const failed = (delivery: Delivery, error: unknown): Reply => {
    undecoded?.add(1);
    const { giveBack } = delivery;
    if (giveBack) giveBack();
    else delivery.accept();
    const message = error instanceof Error ? error.message : String(error);
    log.warning(`a message cannot be decoded as ${backend.encoding}${giveBack ? ' and is requeued' : ''}: ${message}`);
    return Reply.failed(new BackendError('BACKEND_BODY', message, { cause: error }));
  };
  return {
    hostless: true,
    replies: 'data',
    async call(_request: PipeRequest, call: Call) {
      let delivery: Delivery;
      try {
        delivery = await subscriber.next(call);
      } catch (error) {
        return Reply.failed(call.reason ? toCallError(call.reason) : toCallError(error));
      }
      if (call.reason) {
        if (subscriber.putBack) subscriber.putBack(delivery);
        else delivery.giveBack?.();
        return Reply.failed(toCallError(call.reason));
      }
      try {
        return read(delivery);
      } catch (error) {
        return failed(delivery, error);
      }
    },
  };
}
