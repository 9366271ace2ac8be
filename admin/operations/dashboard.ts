import { adminScopes } from '#kernel';
import { callerOf } from '../caller.ts';
import { bearerOf } from '../guards/token.ts';
import type { Operation } from '../operation.ts';
import { Problem } from '../problem.ts';
import { flag, jsonResponse, listOf, objectOf, oneOf, text, whole } from '../schemas.ts';

export const ownToken: Operation = {
  method: 'GET',
  path: '/v1/token',
  scope: 'read',
  summary: 'Show the name and the scopes of the token that the request uses.',
  responses: {
    200: jsonResponse(
      'The token.',
      objectOf('TokenView', { id: text, scopes: listOf(oneOf(adminScopes)), writesDisabled: flag }),
    ),
  },
  handle(ctx, { settings }) {
    const { id, scopes } = callerOf(ctx)!;
    ctx.body = { id, scopes, writesDisabled: settings.disable_write };
  },
};

export const createCode: Operation = {
  method: 'POST',
  path: '/v1/dashboard/codes',
  scope: 'read',
  summary: 'Create a one-time code with which a browser opens the dashboard: `/#code=` and the code.',
  responses: {
    200: jsonResponse('The code, valid for one minute.', objectOf('DashboardCode', { code: text, expiresIn: whole })),
  },
  handle(ctx, { sessions }) {
    const { code, validForMs } = sessions.createCode(callerOf(ctx)!.sha256);
    ctx.body = { code, expiresIn: validForMs / 1000 };
  },
};

export const openSession: Operation = {
  method: 'POST',
  path: '/v1/dashboard/sessions',
  scope: null,
  summary:
    'Exchange a one-time code, sent as `Authorization: Bearer`, for a token that is valid for 12 hours and has the scopes of the token that created the code.',
  responses: { 200: jsonResponse('The token.', objectOf('DashboardSession', { token: text })) },
  problems: ['unauthorized'],
  handle(ctx, { sessions }) {
    const code = bearerOf(ctx);
    const token = code === undefined ? null : sessions.redeem(code);
    if (token === null) throw new Problem('unauthorized', 'the code is not valid, was used before, or has expired');
    ctx.body = { token };
  },
};
