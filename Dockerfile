# The tag names Node's version and Debian's release. It is the same in every stage, so that what one stage compiles runs in the
# other. Raise it for each release of Node 24; packages of Debian come with a rebuild: docker build --pull .
FROM node:24.22.3-bookworm AS manifest
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages packages

FROM manifest AS build
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY gen gen
COPY scripts scripts
COPY src src
RUN npm run build
RUN mkdir data

# SQLite brings a binary; the optional package is the SQLite of Node 20. The full image has the compiler that secp256k1 needs on
# ARM, where it brings none.
FROM manifest AS production
RUN npm ci --omit=dev --omit=optional --workspaces=false

FROM node:24.22.3-bookworm-slim
WORKDIR /app
COPY --from=production /app/package.json ./
COPY --from=production /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build --chown=node:node /app/data /data
ENV NODE_ENV=production
ENV DB_PATH=/data/aggregator.db
USER node
VOLUME /data
EXPOSE 3000
# A degraded service is healthy: a chain that is down is no reason to restart what serves the others.
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s \
  CMD ["node", "-e", "require('node:http').get({ host: '127.0.0.1', port: process.env.PORT || 3000, path: '/health' }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
# Without npm and without a shell, so that SIGTERM reaches the service, which handles it as process 1 and starts no
# processes that an init would have to reap.
CMD ["node", "--max-semi-space-size=16", "--heap-growing-percent=50", "dist/main.js"]
