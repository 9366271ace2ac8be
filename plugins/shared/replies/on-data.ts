import {
  type BackendSite,
  CallError,
  type DataObject,
  type EndpointSite,
  hasKeys,
  type MessageHook,
  type PipeRequest,
  Reply,
  type Wrap,
} from '#contract';

/**
 * Replaces the data of a reply with the result of `change`, if there is data; the rest of the reply is unchanged. A
 * CallError thrown by `change` fails the reply.
 */
export function onData(change: (data: DataObject) => DataObject): Wrap<PipeRequest> {
  const replace = (reply: Reply): Reply => {
    if (reply.data === null || !hasKeys(reply.data)) return reply;
    try {
      reply.data = change(reply.data);
      return reply;
    } catch (error) {
      if (error instanceof CallError) return Reply.failed(error);
      throw error;
    }
  };
  return (next) => (request, call) => {
    const reply = next(request, call);
    return reply instanceof Promise ? reply.then(replace) : replace(reply);
  };
}

/** Replaces the data of each message of a stream with the result of `change`, if there is data. */
export function onMessage(change: (data: DataObject) => DataObject): MessageHook {
  return (data) => (hasKeys(data) ? change(data) : data);
}

/** Whether the response of an endpoint is a stream of messages, which components process one by one. */
export function hasMessages(site: EndpointSite<unknown>): boolean {
  return site.encoding(site.endpoint.output_encoding)?.messages !== undefined;
}

/** Name of the encoding with which an endpoint or a backend passes bytes through undecoded; undefined without one. */
export function rawEncodingAt(
  site: EndpointSite<unknown> & Partial<Pick<BackendSite<unknown>, 'backend'>>,
): string | undefined {
  const encodings = [site.endpoint.output_encoding, ...(site.backend ? [site.backend.encoding] : [])];
  return encodings.find((encoding) => site.encoding(encoding)?.raw);
}
