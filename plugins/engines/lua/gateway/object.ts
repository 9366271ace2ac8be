import { type LuaFunction, type LuaState, lua, raise } from '../fengari.ts';
import { currentRun } from '../run.ts';

/** A method of an object: `self` is the object; arguments start at index 2 of the stack. */
export type Method<T> = (L: LuaState, self: T) => number;

/** A kind of object passed to scripts, which cannot access its content. */
export interface ObjectKind<T> {
  push(L: LuaState, value: T): void;
  /** The content of an argument of this kind; undefined for anything else. */
  read(L: LuaState, arg: number): T | undefined;
}

interface Block {
  kind?: unknown;
  held?: unknown;
}

/** @param name name shown to scripts. */
export function defineObject<T>(name: string, methods: Readonly<Record<string, Method<T>>>): ObjectKind<T> {
  const kind: ObjectKind<T> = {
    push(L, value) {
      const block = lua.lua_newuserdata(L, 0) as Block;
      block.kind = kind;
      block.held = value;
      currentRun().engine.pushMetatable(L, name, bound);
      lua.lua_setmetatable(L, -2);
    },
    read(L, arg) {
      if (lua.lua_type(L, arg) !== lua.LUA_TUSERDATA) return undefined;
      const block = lua.lua_touserdata(L, arg) as Block | null;
      return block?.kind === kind ? (block.held as T) : undefined;
    },
  };
  const bound: Record<string, LuaFunction> = {};
  for (const [key, method] of Object.entries(methods)) {
    bound[key] = (L) => {
      const self = kind.read(L, 1);
      if (self === undefined) raise(L, `${name} expected: call it with a colon, as in value:${key}()`);
      return method(L, self);
    };
  }
  return kind;
}
