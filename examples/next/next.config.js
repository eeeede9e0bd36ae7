// `cacheComponents` is what `create-next-app` writes. Without a root, Next uses the outermost folder with a lock
// file, but this project is inside another.
export default {
  cacheComponents: true,
  outputFileTracingRoot: import.meta.dirname,
  turbopack: { root: import.meta.dirname },
};
