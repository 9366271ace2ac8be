import {
  atService,
  type Call,
  Capture,
  type ClientRequest,
  captureReply,
  claimsSlot,
  definePlugin,
  defineSlot,
  type Head,
  HeaderBag,
  hasKeys,
  maskQuery,
  type Plugin,
  type Reply,
  type Site,
  type Slot,
} from '#contract';
import { compileExpression, type Expression } from '../../engines/cel/expression.ts';
import { CelError } from '../../engines/cel/language/cel-error.ts';
import type { CelType } from '../../engines/cel/language/types.ts';
import { requestTypes, Variables } from '../../engines/cel/variables.ts';
import { outgoingOf } from '../lib/outgoing.ts';
import { Delivery } from './delivery.ts';
import { MAX_BODY_BYTES, masksOf, printEvent } from './event.ts';
import { type Identity, identityReader } from './identity.ts';
import { type MoesifConfig, schema } from './schema.ts';

/** State of a request, kept until it ends. */
interface Seen {
  readonly startedAt: Date;
  readonly verb: string;
  readonly uri: string;
  readonly headers: HeaderBag;
  readonly identity: Identity;
  readonly requestBody: Capture | null;
  readonly responseBody: Capture | null;
  data: Reply['data'];
  status: number;
  responseHeaders: HeaderBag;
}

const seenSlot: Slot<Seen> = defineSlot('moesif');

/**
 * Reports requests and responses to Moesif after the response, without delaying the client. Codes: `MOESIF_SKIP`,
 * `MOESIF_TLS` and those of expressions.
 * @param base address of the collector, without a path.
 */
export function moesif(base: string): Plugin {
  return definePlugin({
    name: 'telemetry/moesif',
    description: 'Reports requests and responses to Moesif.',
    leaves: ['requests', 'data'],
    freeKeys: true,
    places: [
      atService(schema, (site) => {
        const { config } = site;
        const delivery = openDelivery(site, `${base}/v1/events/batch`);
        const identityOf = identityReader(config);
        const skips = compileSkip(site);
        const masks = {
          request: masksOf(config.request_header_masks, config.request_body_masks),
          response: masksOf(config.response_header_masks, config.response_body_masks),
        };
        const metadata = hasKeys(config.metadata) ? config.metadata : undefined;
        const log = site.log.at('[Moesif]');

        const report = async (seen: Seen, ip: string): Promise<void> => {
          const { startedAt, verb, uri, identity, status, data } = seen;
          const event = await printEvent(
            {
              verb,
              uri,
              ip,
              status,
              identity,
              request: {
                time: startedAt.toISOString(),
                headers: seen.headers,
                body: seen.requestBody?.bytes ?? null,
              },
              response: {
                time: new Date().toISOString(),
                headers: seen.responseHeaders,
                body: seen.responseBody ? (data ?? seen.responseBody.bytes) : null,
              },
            },
            masks,
            metadata,
          );
          delivery.add(event);
        };

        return {
          request: (next) => (request, call) => {
            const isStream = streams(site, request);
            const withBodies = config.log_body && !isStream && request.upgrade === null;
            const seen = begin(request, identityOf(request), withBodies);
            call.set(seenSlot, seen);
            if (seen.requestBody) request.body?.tap(seen.requestBody.add);
            const variables = skips && variablesOf(request);
            call.onEnd(({ status }) => {
              if (seen.status === 0) seen.status = status;
              if (skips && isSkipped(skips, variables!, call)) return;
              report(seen, request.ip).catch((error: Error) => log.error(`an event was dropped: ${error.message}`));
            });
            const reply = next(request, call);
            return reply instanceof Promise ? reply.then((settled) => note(seen, settled)) : note(seen, reply);
          },
          head: noteHead,
        };
      }),
    ],
  });
}

export const plugin = moesif('https://api.moesif.net');

function begin(request: ClientRequest, identity: Identity, withBodies: boolean): Seen {
  const { method, path, search, host, secure, headers } = request;
  return {
    startedAt: new Date(),
    verb: method,
    uri: `${secure ? 'https' : 'http'}://${host}${path}${search === '' ? '' : `?${maskQuery(search)}`}`,
    headers: headers.copy(),
    identity,
    requestBody: withBodies ? new Capture(MAX_BODY_BYTES) : null,
    responseBody: withBodies ? new Capture(MAX_BODY_BYTES) : null,
    data: null,
    status: 0,
    responseHeaders: new HeaderBag(),
  };
}

function note(seen: Seen, reply: Reply): Reply {
  if (seen.responseBody === null) return reply;
  seen.data = reply.data;
  if (reply.data === null) captureReply(reply, seen.responseBody);
  return reply;
}

function noteHead({ status, headers }: Head, _request: ClientRequest, call: Call): void {
  const seen = call.get(seenSlot);
  if (!seen) return;
  seen.status = status;
  seen.responseHeaders = headers.copy();
}

/** Whether the response to a request is a stream of messages, whose events are reported without waiting for its end. */
function streams(site: Site<unknown>, request: ClientRequest): boolean {
  const endpoint = request.match();
  return endpoint !== null && site.encoding(endpoint.output_encoding)?.streams === true;
}

/** The queue survives reloads that do not change the application. */
function openDelivery(site: Site<MoesifConfig>, url: string): Delivery {
  const { application_id: applicationId, batch_size, event_queue_size, timer_wake_up_seconds, debug } = site.config;
  const options = {
    url,
    applicationId,
    batchSize: batch_size,
    queueSize: event_queue_size,
    log: site.log.at('[Moesif]'),
    debug,
    ...outgoingOf(site, url, '', 'MOESIF_TLS'),
  };
  const delivery = site.keep(
    ['delivery', url, applicationId],
    () => new Delivery(options),
    (kept) => kept.close(),
  );
  site.start(
    (signal) => {
      delivery.options = options;
      const timer = setInterval(() => void delivery.flush(), timer_wake_up_seconds * 1000);
      timer.unref();
      signal.addEventListener('abort', () => clearInterval(timer), { once: true });
    },
    { in: 'each' },
  );
  return delivery;
}

const skipTypes: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ...Object.entries(requestTypes).filter(([name]) => name !== 'req_params'),
  ['now', 'string'],
  ['JWT', { key: 'string', value: 'dyn' }],
]);

function compileSkip(site: Site<MoesifConfig>): Expression | null {
  const { should_skip: source } = site.config;
  if (source === undefined) return null;
  try {
    return compileExpression(source, skipTypes, site.use('patterns'));
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    throw site.fault(error.code, '/should_skip', error.message, { hint: error.hint, within: error.within });
  }
}

/** Reads the request as the client sent it: inner stages may change their copy. */
function variablesOf(request: ClientRequest): (call: Call) => Variables {
  const { method, query, path } = request;
  const sent = { method, query, params: {}, headers: request.headers.copy() };
  return (call) => new Variables({ request: sent, path, reply: null, raw: false, claims: call.get(claimsSlot) });
}

/** A request is not skipped if the expression fails. */
function isSkipped(expression: Expression, variables: (call: Call) => Variables, call: Call): boolean {
  return expression.evaluate(variables(call), 10) === true;
}
