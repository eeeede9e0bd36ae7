# Node's slim image contains every library that Node 26 needs; Debian's slim image and distroless lack
# libatomic. The tag is the version of the npm package `node` in package.json, so that the image runs
# the tested version; `npm run check` compares the two.
ARG NODE_VERSION=26.10.0

FROM node:${NODE_VERSION}-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc rolldown.config.js ./
COPY packages/client/package.json packages/client/
COPY examples/web/package.json examples/web/
RUN npm ci --ignore-scripts
COPY schema schema
COPY src src
RUN node node_modules/rolldown/bin/cli.mjs --config

FROM node:${NODE_VERSION}-slim
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=4000
# The only writable directory, for DATABASE_URL=file:/data/pet-store.db; the rest can be mounted
# read-only. The image sets no backend, so a container without one exits with an error.
RUN mkdir /data && chown node:node /data
VOLUME /data
WORKDIR /app
# With DEMO=on, DATABASE_URL defaults to data/pet-store.db.
RUN ln -s /data data
COPY --from=build /app/dist dist
COPY package.json ./
# A numeric user lets Kubernetes verify that it is not root.
USER 1000:1000
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s CMD ["node", "--eval", "fetch('http://127.0.0.1:' + process.env.PORT + '/livez').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Subcommands are arguments: docker run IMAGE check-service --help
# With a memory limit of up to 1 GiB, Node makes the space for new objects smaller. With 512 MiB, a
# request with five root fields then takes 1.5 times the CPU time (docs/performance.md).
ENTRYPOINT ["node", "--max-semi-space-size=16", "dist/bin/main.js"]
