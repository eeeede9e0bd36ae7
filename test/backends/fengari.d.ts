/** The functions of the C API of Lua 5.3 that tests use (Lua 5.3 Reference Manual, section 4). */
declare module 'fengari' {
  type State = { readonly brand: unique symbol };
  type Text = Uint8Array;
  const fengari: {
    readonly lua: {
      readonly LUA_OK: number;
      readonly LUA_REGISTRYINDEX: number;
      readonly LUA_TNUMBER: number;
      readonly LUA_TSTRING: number;
      lua_createtable(state: State, length: number, members: number): void;
      lua_error(state: State): number;
      lua_gettop(state: State): number;
      lua_istable(state: State, index: number): boolean;
      lua_pcall(state: State, args: number, results: number, handler: number): number;
      lua_pop(state: State, count: number): void;
      lua_pushboolean(state: State, value: number): void;
      lua_pushcfunction(state: State, run: () => number): void;
      lua_pushstring(state: State, text: Text): void;
      lua_rawgeti(state: State, index: number, at: number): void;
      lua_rawlen(state: State, index: number): number;
      lua_rawseti(state: State, index: number, at: number): void;
      lua_settop(state: State, index: number): void;
      lua_tostring(state: State, index: number): Text;
      lua_type(state: State, index: number): number;
    };
    readonly lauxlib: {
      luaL_loadstring(state: State, text: Text): number;
      luaL_newstate(): State;
      luaL_ref(state: State, index: number): number;
    };
    readonly lualib: { luaL_openlibs(state: State): void };
    to_luastring(text: string): Text;
    to_jsstring(text: Text): string;
  };
  // biome-ignore lint/style/noDefaultExport: this is how its CommonJS is imported.
  export default fengari;
}
