import type { Reply } from '#contract';

export const levels = ['service', 'endpoint'] as const;

export const to = (host: string, target = '/p?q=1', headers: Record<string, string> = {}, method = 'GET') => ({
  method,
  target,
  headers: { Host: host, ...headers },
});

export const bodyOf = (reply: Reply) => (reply.body === null ? '' : Buffer.from(reply.body as Uint8Array).toString());
