# Node's own slim image: of the small ones it is the only one with everything that Node 26 links to
# (Debian's and distroless' lack libatomic). Its tag is the version of the npm package `node` in
# package.json, so that what runs is what was tested; `npm run check` compares the two.
ARG NODE_VERSION=26.10.0

FROM node:${NODE_VERSION}-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/client/package.json packages/client/
COPY examples/web/package.json examples/web/
# The npm package `node` is a development dependency: the image has that runtime already. .npmrc includes
# them unless another kind is asked for.
RUN npm ci --include=prod --omit=dev --ignore-scripts

FROM node:${NODE_VERSION}-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc rolldown.config.js ./
COPY packages/client/package.json packages/client/
COPY examples/web/package.json examples/web/
RUN npm ci --ignore-scripts
COPY src src
RUN node node_modules/rolldown/bin/cli.mjs --config

FROM node:${NODE_VERSION}-slim
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=4000
# The one place to write to, for DATABASE_URL=file:/data/pet-store.db: the rest may be mounted
# read-only. No backend is chosen here, so that a container without one says so.
RUN mkdir /data && chown node:node /data
VOLUME /data
WORKDIR /app
# For DEMO=on, which needs no DATABASE_URL: its default is data/pet-store.db.
RUN ln -s /data data
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json ./
COPY schema schema
# By number, so that Kubernetes sees that it is not root.
USER 1000:1000
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s CMD ["node", "--eval", "fetch('http://127.0.0.1:' + process.env.PORT + '/livez').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The subcommands follow: docker run IMAGE check-service --help
ENTRYPOINT ["node", "dist/bin/main.js"]
