import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { frame } from '../plugins/encoding/frames.ts';

interface Message {
  readonly event?: string;
  readonly data: unknown;
}

/** Requests and responses of a vendor's API, as in its documentation. */
export interface ModelFixture {
  readonly url_pattern: string;
  readonly variables: object;
  /** For the prompt `hi` with the instructions `be brief`. */
  readonly payload: object;
  /** Payload for the conversation `one`, `two`, the model's `three`, and `four`. */
  readonly conversation: readonly object[];
  readonly conversationAt: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly answer: object;
  readonly unified: object;
  /** A response without text. */
  readonly refused: object;
  readonly failure: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: object;
    readonly code: string;
  };
  /** `Hello` in two messages, with 7 tokens used. */
  readonly stream: {
    readonly target: string;
    readonly sends: object;
    readonly messages: readonly Message[];
    readonly broken?: Message;
    readonly code?: string;
  };
}

const fixtureOf = (name: string) =>
  JSON.parse(readFileSync(`test/plugins/ai/llm/fixtures/${name}.json`, 'utf8')) as ModelFixture;

/** Alibaba's models have OpenAI's API at another path. */
function alibaba(): ModelFixture {
  const fixture = fixtureOf('openai-v1');
  const path = '/compatible-mode/v1/responses';
  return { ...fixture, url_pattern: path, stream: { ...fixture.stream, target: path } };
}

/** Every version of every vendor: name, version and fixture. */
export const models: readonly (readonly [vendor: string, version: string, fixture: ModelFixture])[] = [
  ['openai', 'v1', fixtureOf('openai-v1')],
  ['mistral', 'v1', fixtureOf('mistral-v1')],
  ['anthropic', 'v1', fixtureOf('anthropic-v1')],
  ['gemini', 'v1beta', fixtureOf('gemini-v1beta')],
  ['bedrock', 'v1', fixtureOf('bedrock-v1')],
  ['alibaba', 'v1', alibaba()],
];

/** A message in wire format: an AWS event frame for Bedrock, a server-sent event for the others. */
export function streamed(vendor: string, { event, data }: Message): Buffer {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  if (vendor === 'bedrock') {
    const type = event!.endsWith('Exception') ? 'exception' : 'event';
    return frame({ [`:${type}-type`]: event!, ':content-type': 'application/json', ':message-type': type }, text);
  }
  return Buffer.from(`${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`);
}

/** The whole stream of a fixture. */
export function wholeStream(vendor: string, { stream }: ModelFixture): Buffer {
  return Buffer.concat(stream.messages.map((message) => streamed(vendor, message)));
}

/** Starts a streamed response of a vendor. */
export function beginStream(vendor: string, response: ServerResponse): ServerResponse {
  const type = vendor === 'bedrock' ? 'application/vnd.amazon.eventstream' : 'text/event-stream';
  return response.writeHead(200, { 'Content-Type': type });
}
