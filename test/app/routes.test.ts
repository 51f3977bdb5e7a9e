import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { createApp } from '../../src/app/app.js'
import { readConfig } from '../../src/config/config.js'
import { createLog } from '../../src/telemetry/log.js'

/** Starts a service whose chain does not answer. @returns the paths of all its routes, with `{name}` for each variable */
async function readPaths(): Promise<string[]> {
  const paths = new Set<string>()
  const onServer = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', ({ url }) => void paths.add(url.replace(/:(\w+)/g, '{$1}')))
  }
  subscribe('fastify.initialization', onServer)
  onTestFinished(() => void unsubscribe('fastify.initialization', onServer))
  const app = await createApp(
    readConfig({
      SUPPORTED_CHAINS: '1',
      RPC_URL_1: 'http://127.0.0.1:1',
      SERVICE_ADDRESS_1: `0x${'5e'.repeat(20)}`,
      HOST: '127.0.0.1',
      PORT: '0',
      DB_PATH: ':memory:',
      CONSOLE: 'false',
    }),
    { log: createLog('silent') },
  )
  await app.close()
  return [...paths]
}

/** What no caller asks for by itself, with the reason. */
const UNNAMED = {
  '/ ': 'stands for paths that cannot be decoded',
  '*': 'preflight requests of all paths',
  '/docs/': 'leads to /docs',
  '/favicon.ico': 'browsers ask for it when they show JSON',
}

test('docs/api.md names every path that the service serves, but for the files of its pages', async () => {
  const document = readFileSync('docs/api.md', 'utf8')
  const paths = await readPaths()
  expect(paths).toEqual(expect.arrayContaining(['/health', '/v1/{chainId}/quote', '/docs']))
  const callable = paths.filter((path) => !(path in UNNAMED) && !/^\/docs\/./.test(path))
  expect(callable.filter((path) => !document.includes(`${textOf(path)}\``))).toEqual([])
})

/** How the document writes a path: a method of the API by its short name, those of gRPC's own services by their service. */
function textOf(path: string): string {
  const [, service = '', method = ''] = /^\/([\w.]+)\/(\w+)$/.exec(path) ?? []
  if (service.startsWith('grpc.')) return `\`${service}`
  return service.startsWith('aggregator.v1.') ? `\`${service.slice('aggregator.v1.'.length)}/${method}` : path
}
