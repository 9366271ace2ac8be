import { type LuaFunction, lauxlib, lua } from '../fengari.ts';

/** Number functions of Lua 5.1 that the engine lacks. */
export const mathFunctions: Readonly<Record<string, LuaFunction>> = {
  atan2: ofTwo(Math.atan2),
  cosh: ofOne(Math.cosh),
  sinh: ofOne(Math.sinh),
  tanh: ofOne(Math.tanh),
  log: ofOne(Math.log),
  log10: ofOne(Math.log10),
  pow: ofTwo((base, exponent) => base ** exponent),
  ldexp: ofTwo((value, exponent) => timesPowerOfTwo(value, Math.trunc(exponent))),
  frexp(L) {
    const [fraction, exponent] = fractionAndExponent(lauxlib.luaL_checknumber(L, 1));
    lua.lua_pushnumber(L, fraction);
    lua.lua_pushnumber(L, exponent);
    return 2;
  },
};

function ofOne(f: (value: number) => number): LuaFunction {
  return (L) => {
    lua.lua_pushnumber(L, f(lauxlib.luaL_checknumber(L, 1)));
    return 1;
  };
}

function ofTwo(f: (one: number, other: number) => number): LuaFunction {
  return (L) => {
    lua.lua_pushnumber(L, f(lauxlib.luaL_checknumber(L, 1), lauxlib.luaL_checknumber(L, 2)));
    return 1;
  };
}

/** Uses two steps: the power alone may be out of range when the product is not. */
function timesPowerOfTwo(value: number, exponent: number): number {
  const bounded = Math.max(Math.min(exponent, 2200), -2200);
  const half = Math.trunc(bounded / 2);
  const third = Math.trunc(half / 2);
  return value * 2 ** third * 2 ** (half - third) * 2 ** third * 2 ** (bounded - half - third);
}

/** Splits a number into a fraction from 0.5 up to 1, and a power of two. */
function fractionAndExponent(value: number): [fraction: number, exponent: number] {
  if (value === 0 || !Number.isFinite(value)) return [value, 0];
  let exponent = Math.max(-1023, Math.floor(Math.log2(Math.abs(value))) + 1);
  let fraction = timesPowerOfTwo(value, -exponent);
  while (Math.abs(fraction) < 0.5) {
    fraction *= 2;
    exponent--;
  }
  while (Math.abs(fraction) >= 1) {
    fraction /= 2;
    exponent++;
  }
  return [fraction, exponent];
}
