// By default, Next uses the outermost folder with a lock file, but this project is inside another.
export default {
  outputFileTracingRoot: import.meta.dirname,
  turbopack: { root: import.meta.dirname },
};
