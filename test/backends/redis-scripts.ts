import fengari from 'fengari';

const { lua, lauxlib, lualib, to_luastring: toLua, to_jsstring: fromLua } = fengari;

type Call = (...command: string[]) => readonly (string | false)[];

/** Compiles a script of Redis. What it returns runs it with keys, arguments and `redis.call`. */
export function compileScript(script: string) {
  const state = lauxlib.luaL_newstate();
  lualib.luaL_openlibs(state);
  const text = `local KEYS, ARGV, call = ...\nlocal redis = { call = call, pcall = function(...) pcall(call, ...) end }\n${script}`;
  if (lauxlib.luaL_loadstring(state, toLua(text)) !== lua.LUA_OK) throw failure();
  const compiled = lauxlib.luaL_ref(state, lua.LUA_REGISTRYINDEX);

  function failure(): Error {
    return new Error(fromLua(lua.lua_tostring(state, -1)));
  }

  function push(values: readonly (string | false)[]): void {
    lua.lua_createtable(state, values.length, 0);
    for (const [index, value] of values.entries()) {
      if (value === false) lua.lua_pushboolean(state, 0);
      else lua.lua_pushstring(state, toLua(value));
      lua.lua_rawseti(state, -2, index + 1);
    }
  }

  /** @returns the array that the script returns, with null for `false`, and numbers as such */
  return function run(key: string, args: readonly string[], call: Call): unknown[] {
    lua.lua_settop(state, 0);
    lua.lua_rawgeti(state, lua.LUA_REGISTRYINDEX, compiled);
    push([key]);
    push(args);
    lua.lua_pushcfunction(state, () => {
      const count = lua.lua_gettop(state);
      const command = Array.from({ length: count }, (_, index) =>
        fromLua(lua.lua_tostring(state, index + 1)),
      );
      try {
        push(call(...command));
      } catch (error) {
        lua.lua_pushstring(state, toLua((error as Error).message));
        return lua.lua_error(state);
      }
      return 1;
    });
    if (lua.lua_pcall(state, 3, 1, 0) !== lua.LUA_OK) throw failure();
    if (!lua.lua_istable(state, -1)) return [];
    return Array.from({ length: lua.lua_rawlen(state, -1) }, (_, index) => {
      lua.lua_rawgeti(state, -1, index + 1);
      const isNumber = lua.lua_type(state, -1) === lua.LUA_TNUMBER;
      const isText = lua.lua_type(state, -1) === lua.LUA_TSTRING;
      const value = isText || isNumber ? fromLua(lua.lua_tostring(state, -1)) : null;
      lua.lua_pop(state, 1);
      return isNumber ? Number(value) : value;
    });
  };
}
