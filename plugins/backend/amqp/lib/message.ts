import { type BackendSite, CallError, type HeaderBag, type PipeRequest, paramKey } from '#contract';
import type { OutgoingMessage } from '../../../clients/amqp/publisher.ts';
import { paramOf } from '../../../shared/parameters/value.ts';
import type { ProducerConfig } from './producer-schema.ts';

/** Maximum length of a short string in AMQP, and of a message's headers, in bytes. */
const SHORT_BYTES = 255;
const HEADERS_BYTES = 32 * 1024;

/** Maximum expiration that RabbitMQ accepts, in milliseconds. */
const LONGEST_EXPIRATION = 4_294_967_295;

/** Headers that control the broker: additional routing keys, and the dead-letter history. Clients must not set them. */
const OF_THE_BROKER = /^(?:b?cc|x-death|x-first-death-.*)$/;

/** Error for a request value that a message cannot contain. Code: `AMQP_VALUE`. */
function unusable(what: string): CallError {
  return new CallError('AMQP_VALUE', `the request has no valid ${what}`, { view: { status: 400 } });
}

/** Compiles the conversion of a request and its body to a message. It throws a CallError with status 400 for values that a message cannot contain. */
export function compileMessage(
  site: BackendSite<ProducerConfig>,
): (request: PipeRequest, content: Uint8Array) => OutgoingMessage {
  const { config } = site;
  const { routing_key: key, static_routing_key: isStatic, persistent } = config;
  const keyOf = isStatic ? () => key : reader(site, 'routing_key');
  const expirationOf = reader(site, 'exp_key');
  const replyToOf = reader(site, 'reply_to_key');
  const idOf = reader(site, 'msg_id_key');
  const priorityOf = reader(site, 'priority_key');
  return (request, content) => {
    const priority = priorityOf(request);
    const contentType = request.headers.get('content-type');
    return {
      routingKey: short(keyOf(request) ?? '', 'routing key'),
      content,
      properties: {
        headers: headerTable(request.headers),
        timestamp: Math.floor(Date.now() / 1000),
        ...(contentType !== undefined && { contentType: short(contentType, 'Content-Type') }),
        ...(persistent && { persistent }),
        ...optional('expiration', expirationOf(request), expiration),
        ...optional('replyTo', replyToOf(request), replyTo),
        ...optional('messageId', idOf(request), (id) => short(id, 'message identifier')),
        ...(isPriority(priority) && { priority: Number(priority) }),
      },
    };
  };
}

/** Reads the variable named by a field. Warns with AMQP_PARAM if no request has that variable. */
function reader(
  { config, endpoint, warn }: BackendSite<ProducerConfig>,
  field: 'routing_key' | 'exp_key' | 'reply_to_key' | 'msg_id_key' | 'priority_key',
): (request: PipeRequest) => string | undefined {
  const name = config[field];
  if (name === '') return () => undefined;
  const known = [...endpoint.endpoint.matchAll(/\{([^{}]+)\}/g)].map(([, variable]) => paramKey(variable!));
  if (!known.includes(name) && !/^(?:Resp\d|JWT\.)/.test(name)) {
    const hint = known.length > 0 ? `one of ${known.join(', ')}` : 'the path has no placeholder';
    const also = field === 'routing_key' ? ', or "static_routing_key": true' : '';
    warn('AMQP_PARAM', `/${field}`, `the path has no placeholder for "${name}": the value is always empty`, {
      hint: hint + also,
    });
  }
  return (request) => paramOf(request, name);
}

function optional<K extends string>(
  name: K,
  value: string | undefined,
  check: (value: string) => string,
): { readonly [P in K]?: string } {
  return value === undefined || value === '' ? {} : ({ [name]: check(value) } as { readonly [P in K]: string });
}

function short(text: string, what: string): string {
  if (Buffer.byteLength(text) > SHORT_BYTES) throw unusable(what);
  return text;
}

/** Validates an expiration. The broker would close the channel for an invalid one. */
function expiration(text: string): string {
  if (!/^\d{1,10}$/.test(text) || Number(text) > LONGEST_EXPIRATION) throw unusable('expiration');
  return text;
}

/** Rejects the broker's direct reply-to pseudo-queue: it requires a consumer on the same channel, and the broker would close the channel. */
function replyTo(text: string): string {
  if (text.startsWith('amq.rabbitmq.reply-to')) throw unusable('queue for replies');
  return short(text, 'queue for replies');
}

/** Whether the priority is valid. Invalid or out-of-range priorities are ignored. */
function isPriority(text: string | undefined): boolean {
  return text !== undefined && /^\d{1,3}$/.test(text) && Number(text) <= 255;
}

/** All headers with all their values, with names capitalized as in HTTP/1.1. */
function headerTable({ list }: HeaderBag): Record<string, string[]> {
  const table: Record<string, string[]> = Object.create(null);
  let bytes = 0;
  for (let at = 0; at < list.length; at += 2) {
    const [name, value] = [list[at]!.toLowerCase(), list[at + 1]!];
    if (OF_THE_BROKER.test(name)) continue;
    bytes += name.length + Buffer.byteLength(value) + 16;
    if (bytes > HEADERS_BYTES || name.length > SHORT_BYTES) throw unusable('value for the headers: they are too long');
    const written = name.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase());
    table[written] = [...(table[written] ?? []), value];
  }
  return table;
}
