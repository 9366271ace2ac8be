import { dialTcp } from '../dial.ts';
import { conversations, openServer } from '../http2-clients.ts';
import { defineTarget } from '../target.ts';

/** Frames of HTTP/2 clients. */
export const http2Server = defineTarget({
  name: 'http2-server',
  law: 'Whatever frames a client sends, each request reaches the backend once at most, is logged once, and none stays open.',
  boundMs: 200,
  rooms: ['kernel/server/'],
  isGuided: true,
  inputs: conversations,
  open: () => openServer({ use_h2c: true }, dialTcp),
});
