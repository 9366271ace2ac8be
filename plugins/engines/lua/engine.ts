import { currentBudget } from './budget.ts';
import {
  bytesOf,
  type LuaFunction,
  type LuaState,
  lauxlib,
  lua,
  nameBytes,
  pushText,
  raise,
  textOfBytes,
} from './fengari.ts';
import { closedLibraries, type Library, openLibraries } from './libraries/index.ts';

/** A value of the engine: calling it with a thread pushes the value onto the thread's stack. */
export type LuaValue = (L: LuaState) => void;

/** Compiled code that can be run any number of times, each time with its own globals. */
export interface Chunk {
  readonly engine: Engine;
  readonly start: LuaValue;
}

/**
 * Maximum length of a script, in characters: compiling a script of this length takes up to half a second, during which
 * no request is served.
 */
const MAX_CODE = 256 * 1024;

/** A syntax error in a script. */
export class LuaSyntaxError extends Error {}

/** Methods of the objects passed to scripts, by name; also further tables of functions, by name. */
export type Tables = Readonly<Record<string, Readonly<Record<string, LuaFunction>>>>;

/**
 * A virtual machine with its libraries, shared by all scripts of a kind. It keeps no state of a run: each run has its
 * own globals, and everything shared is frozen.
 */
export class Engine {
  readonly main: LuaState;
  /** The metatable of the globals of a run. */
  readonly #globals: LuaValue;
  readonly #frozen = new WeakSet<object>();
  readonly #metatables = new Map<string, LuaValue>();

  /** @param opens opens all libraries. @param tables additional globals by name; `''` for functions that are globals themselves. */
  constructor(opens: boolean, tables: Tables) {
    const L = lauxlib.luaL_newstate();
    this.main = L;
    lua.lua_atnativeerror(L, nativeError);
    lua.lua_newtable(L);
    for (const library of opens ? openLibraries : closedLibraries) this.#open(library);
    for (const [name, functions] of Object.entries(tables)) this.#add(name, functions);
    this.#addOwn();
    this.#globals = this.#protect(L);
    lua.lua_settop(L, 0);
  }

  /** Compiles code. @param name name in messages. @throws LuaSyntaxError with the line, or for a script that is too long. */
  compile(code: string, name: string): Chunk {
    if (code.length > MAX_CODE) throw new LuaSyntaxError(`the script is longer than ${MAX_CODE} characters`);
    const L = this.main;
    this.#load(code, name);
    lua.lua_settop(L, 0);
    // The globals are passed to the function as an upvalue, so every run creates a function of its own.
    this.#load(`local _ENV = ...; return function(...) ${code}\nend`, name);
    const start = lua.lua_toproxy(L, -1);
    lua.lua_settop(L, 0);
    return { engine: this, start };
  }

  #load(code: string, name: string): void {
    const L = this.main;
    const bytes = bytesOf(code);
    if (lauxlib.luaL_loadbufferx(L, bytes, bytes.length, nameBytes(`=${name}`), nameBytes('t')) === lua.LUA_OK) return;
    const message = textOfBytes(lua.lua_tostring(L, -1)!);
    lua.lua_settop(L, 0);
    throw new LuaSyntaxError(message);
  }

  /** Creates the globals for one run. */
  newGlobals(): LuaValue {
    const L = this.main;
    lua.lua_newtable(L);
    lua.lua_pushvalue(L, -1);
    lua.lua_setfield(L, -2, nameBytes('_G'));
    this.#globals(L);
    lua.lua_setmetatable(L, -2);
    const globals = lua.lua_toproxy(L, -1);
    lua.lua_settop(L, 0);
    return globals;
  }

  /** Pushes the metatable of an object kind onto the stack. */
  pushMetatable(L: LuaState, kind: string, methods: Readonly<Record<string, LuaFunction>>): void {
    let metatable = this.#metatables.get(kind);
    if (!metatable) {
      const { main } = this;
      const top = lua.lua_gettop(main);
      lua.lua_newtable(main);
      for (const [name, f] of Object.entries(methods)) this.#setFunction(name, f);
      metatable = this.#protect(main);
      lua.lua_settop(main, top);
      this.#metatables.set(kind, metatable);
    }
    metatable(L);
  }

  /** Adds a library to the table on top of the stack. */
  #open({ name, open, kept, own }: Library): void {
    const L = this.main;
    lauxlib.luaL_requiref(L, nameBytes(name || '_G'), open, 0);
    const from = lua.lua_gettop(L);
    if (name === '') lua.lua_pushvalue(L, from - 1);
    else lua.lua_newtable(L);
    for (const key of kept) {
      lua.lua_getfield(L, from, nameBytes(key));
      lua.lua_setfield(L, -2, nameBytes(key));
    }
    const functions = own(this.#functionsOf(from));
    for (const [key, f] of Object.entries(functions)) this.#setFunction(key, f);
    if (name === 'table') {
      lua.lua_getfield(L, -1, nameBytes('unpack'));
      lua.lua_setfield(L, from - 1, nameBytes('unpack'));
    }
    if (name === '') lua.lua_settop(L, from - 1);
    else this.#setFrozen(name, from - 1);
    if (name === 'string') this.#setStringMetatable();
  }

  /** The functions of the library at an index, as JavaScript functions. */
  #functionsOf(index: number): Readonly<Record<string, LuaFunction>> {
    const L = this.main;
    const functions: Record<string, LuaFunction> = {};
    lua.lua_pushnil(L);
    while (lua.lua_next(L, index)) {
      const f = lua.lua_tocfunction(L, -1);
      if (f && lua.lua_type(L, -2) === lua.LUA_TSTRING) functions[textOfBytes(lua.lua_tostring(L, -2)!)] = f;
      lua.lua_pop(L, 1);
    }
    return functions;
  }

  #add(name: string, functions: Readonly<Record<string, LuaFunction>>): void {
    const L = this.main;
    const globals = lua.lua_gettop(L);
    if (name === '') {
      for (const [key, f] of Object.entries(functions)) this.#setFunction(key, f);
      return;
    }
    lua.lua_newtable(L);
    for (const [key, f] of Object.entries(functions)) this.#setFunction(key, f);
    this.#setFrozen(name, globals);
  }

  #setFunction(key: string, f: LuaFunction): void {
    lua.lua_pushcfunction(this.main, f);
    lua.lua_setfield(this.main, -2, nameBytes(key));
  }

  /** Stores the table on top of the stack in the one at `globals`, behind a read-only proxy. */
  #setFrozen(name: string, globals: number): void {
    const L = this.main;
    const metatable = this.#protect(L, true);
    lua.lua_newtable(L);
    metatable(L);
    lua.lua_setmetatable(L, -2);
    this.#frozen.add(lua.lua_topointer(L, -1)!);
    lua.lua_setfield(L, globals, nameBytes(name));
    lua.lua_settop(L, globals);
  }

  /** Creates a metatable that reads from the table on top of the stack and is hidden from scripts. */
  #protect(L: LuaState, isFrozen = false): LuaValue {
    lua.lua_newtable(L);
    if (isFrozen) this.#setFunction('__newindex', refuseChange);
    lua.lua_pushvalue(L, -2);
    lua.lua_setfield(L, -2, nameBytes('__index'));
    lua.lua_pushboolean(L, false);
    lua.lua_setfield(L, -2, nameBytes('__metatable'));
    const metatable = lua.lua_toproxy(L, -1);
    lua.lua_pop(L, 1);
    return metatable;
  }

  /** Sets the methods of strings: `("x"):upper()`. */
  #setStringMetatable(): void {
    const L = this.main;
    lua.lua_getfield(L, -1, nameBytes('string'));
    const metatable = this.#protect(L);
    pushText(L, '');
    metatable(L);
    lua.lua_setmetatable(L, -2);
    lua.lua_pop(L, 2);
  }

  #addOwn(): void {
    this.#setFunction('rawset', (L) => {
      lauxlib.luaL_checktype(L, 1, lua.LUA_TTABLE);
      lauxlib.luaL_checkany(L, 3);
      if (this.#frozen.has(lua.lua_topointer(L, 1)!)) refuseChange(L);
      lua.lua_settop(L, 3);
      lua.lua_rawset(L, 1);
      return 1;
    });
  }
}

function refuseChange(L: LuaState): never {
  return raise(L, 'values shared by all scripts are read-only');
}

/** Converts an error thrown by a native function to a script error. */
function nativeError(L: LuaState): number {
  // The budget error is thrown again, so that it ends the whole thread; otherwise the engine would run all error
  // handlers.
  currentBudget()?.refuse();
  const error = lua.lua_touserdata(L, 1) as unknown;
  pushText(L, error instanceof Error ? error.message : String(error));
  return 1;
}
