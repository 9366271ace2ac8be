import { deepEqual, rejects } from 'node:assert/strict';
import { Call, CancelledError, HeaderBag, type PipeRequest, Reply } from '#contract';
import { Conversation } from '../../../../plugins/ai/mcp/remote/conversation.ts';

describe('a conversation with an upstream MCP server', () => {
  let methods: string[];
  /** Called before the response to a handshake. */
  let handshake: () => Promise<void>;

  beforeEach(() => {
    methods = [];
    handshake = async () => {};
  });

  const line = {
    url: new URL('http://upstream.test/mcp'),
    headers: [],
    version: '1',
    background: () => {},
    async send(request: PipeRequest, call: Call) {
      const { id, method } = JSON.parse(Buffer.from(await request.body!.bytes()).toString());
      methods.push(method);
      if (method === 'initialize') await handshake();
      if (call.reason) throw call.reason;
      const result = method === 'initialize' ? { protocolVersion: '2025-06-18' } : {};
      return Reply.raw(200, new HeaderBag(), Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result })));
    },
  };
  const open = () => new Conversation(() => {});
  const count = (method: string) => methods.filter((each) => each === method).length;

  it('begins only one session for concurrent calls', async () => {
    const conversation = open();
    await Promise.all(Array.from({ length: 20 }, () => conversation.request(line, 'tools/list', {}, new Call())));
    deepEqual([count('initialize'), count('tools/list')], [1, 20]);
  });

  it('lets another call negotiate the protocol version if the first call is canceled', async () => {
    const conversation = open();
    const first = new Call();
    handshake = async () => {
      handshake = async () => {};
      first.cancel(new CancelledError());
    };
    const canceled = rejects(conversation.request(line, 'tools/list', {}, first), CancelledError);
    const others = Array.from({ length: 5 }, () => conversation.request(line, 'tools/list', {}, new Call()));
    await canceled;
    await Promise.all(others);
    deepEqual([count('initialize'), count('tools/list')], [2, 5]);
  });
});
