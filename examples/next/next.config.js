// Next takes the outermost folder with a lock file for the project, and this one is within another.
export default {
  outputFileTracingRoot: import.meta.dirname,
  turbopack: { root: import.meta.dirname },
};
