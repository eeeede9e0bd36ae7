export default {
  // The page and the gateway share an origin, so the gateway needs no CORS_ORIGINS.
  server: { proxy: { '/graphql': 'http://127.0.0.1:4000' } },
};
