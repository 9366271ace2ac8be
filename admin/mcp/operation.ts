import type Koa from 'koa';
import { type McpServer, replyForm, replyHeaders, respondToMcp, writtenMessage } from '#contract';
import { decodeText, version } from '#kernel';
import { demandBody } from '../body.ts';
import { callerOf } from '../caller.ts';
import type { Operation } from '../operation.ts';
import { documentOf, jsonResponse } from '../schemas.ts';
import type { RunOperation } from './run-operation.ts';
import { type AdminContext, type AdminTool, adminTools, type ChangeOperations } from './tools.ts';

const message = documentOf('McpMessage', 'A message of the Model Context Protocol, in JSON-RPC 2.0.');

const accepts = ['application/json'];

/**
 * The admin API as tools for language models: each caller sees the tools that its token allows. Tool calls pass the
 * same guards as any other request.
 * @param operations operations of the admin API; those that only read become tools.
 */
export function mcpOperation(
  operations: readonly Operation[],
  changes: ChangeOperations,
  run: RunOperation,
): Operation {
  const all = adminTools(operations, changes);
  const server: McpServer<AdminContext> = {
    name: 'sluice-admin',
    title: 'Sluice admin API',
    version,
    instructions:
      'Tools whose names begin with "get" change nothing. Before a change is applied with applyConfig, review it with proposeConfig. applyConfig requires a token with the scope "write".',
    cacheScope: 'private',
    sessions: null,
    tools: ({ ctx }) => allowed(all, ctx),
    tool: (name, { ctx }) => allowed(all, ctx).find(({ description }) => description['name'] === name),
    failed(error, { admin }) {
      admin.gateway.log.error(`[ADMIN] ${error instanceof Error ? error.stack : String(error)}`);
    },
  };
  return {
    method: 'POST',
    path: '/v1/mcp',
    scope: 'read',
    summary: 'Read, propose and apply changes as a Model Context Protocol (MCP) client.',
    accepts,
    body: message,
    responses: { 200: jsonResponse('The response.', message), 202: { description: '202: No response body.' } },
    async handle(ctx, admin) {
      const form = replyForm(ctx.headers.accept, 'json') ?? 'json';
      const { bytes } = await demandBody(ctx, admin, accepts);
      const request = { text: decodeText(bytes, 'message.json'), header: (name: string) => ctx.get(name) || undefined };
      const reply = await respondToMcp(server, request, { ctx, admin, run });
      ctx.status = reply.status;
      if (reply.message === null) {
        ctx.body = null;
        ctx.status = reply.status;
        return;
      }
      const headers = replyHeaders(reply.status === 200 ? form : 'json');
      for (let at = 0; at < headers.length; at += 2) ctx.set(headers[at]!, headers[at + 1]!);
      ctx.body = writtenMessage(reply.message, reply.status === 200 ? form : 'json');
    },
  };
}

function allowed(tools: readonly AdminTool[], ctx: Koa.Context): readonly AdminTool[] {
  const scopes = callerOf(ctx)?.scopes ?? [];
  return tools.filter(({ scope }) => scopes.includes(scope));
}
