import { ByteStream, type Reply } from '#contract';
import { MAX_STRING_BYTES } from '../../engines/lua/budget.ts';
import { luaTable } from '../../engines/lua/data.ts';
import { type LuaState, lauxlib, lua, raise } from '../../engines/lua/fengari.ts';
import { headerMethods } from '../../engines/lua/gateway/headers.ts';
import { defineObject } from '../../engines/lua/gateway/object.ts';
import { currentRun } from '../../engines/lua/run.ts';
import { pushOne, sets } from './lua-request.ts';

/** A reply in the form that scripts see. */
export interface ScriptedReply {
  readonly reply: Reply;
  /** Whether the reply is not decoded, so that its status and body are sent to the client. */
  readonly raw: boolean;
}

/** Headers that become invalid when a body is replaced. */
const ofBody = ['content-length', 'content-encoding', 'transfer-encoding'];

export const responseKind = defineObject<ScriptedReply>('response', {
  isComplete(L, { reply }) {
    if (lua.lua_gettop(L) === 1) {
      lua.lua_pushboolean(L, reply.complete === true);
      return 1;
    }
    reply.complete = lua.lua_toboolean(L, 2);
    return 0;
  },
  statusCode(L, { reply, raw }) {
    if (!sets(L, 2)) {
      lua.lua_pushnumber(L, raw ? reply.status : 0);
      return 1;
    }
    const status = lauxlib.luaL_checknumber(L, 2);
    if (!Number.isInteger(status) || status < 200 || status > 599)
      raise(L, `${status} is not a status from 200 to 599`);
    if (raw) reply.status = status;
    return 0;
  },
  data(L, { reply, raw }) {
    if (reply.data === null && !raw) reply.data = {};
    luaTable.push(L, reply.data ?? {});
    return 1;
  },
  body(L, { reply, raw }) {
    if (!sets(L, 2)) return raw ? pushRaw(L, reply) : pushOne(L, '');
    const bytes = lauxlib.luaL_checkstring(L, 2).slice();
    if (!raw) return 0;
    if (reply.body instanceof ByteStream) reply.body.cancel(new Error('replaced'));
    reply.body = bytes;
    for (const name of ofBody) reply.headers.delete(name);
    return 0;
  },
  ...headerMethods<ScriptedReply>(({ reply }) => reply.headers),
});

function pushRaw(L: LuaState, reply: Reply): number {
  const push = (thread: LuaState, settled: unknown): number => {
    const bytes = (settled ?? new Uint8Array()) as Uint8Array;
    reply.body = bytes;
    lua.lua_pushstring(thread, bytes);
    return 1;
  };
  if (!(reply.body instanceof ByteStream)) return push(L, reply.body);
  const bytes = reply.body.collect(MAX_STRING_BYTES);
  return bytes instanceof Promise ? currentRun().wait(L, bytes, push) : push(L, bytes);
}
