/**
 * Starts the built service once, and keeps the code that V8 has compiled for it, so that later starts need not compile it.
 *
 *   node <flags of npm start> --import tsx scripts/cache-code.ts <folder of the build>
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { cacheCode, loadScript } from '../src/internals/cached-script.js'

const [folder = ''] = process.argv.splice(2)
const path = resolve(folder, 'service.js')
const main = pathToFileURL(resolve(folder, 'main.js')).href
const data = mkdtempSync(join(tmpdir(), 'build-'))
process.once('exit', () => rmSync(data, { recursive: true }))
const port = await freePort()
const health = `http://127.0.0.1:${port}/health`
process.env = {
  HOST: '127.0.0.1',
  PORT: String(port),
  DB_PATH: join(data, 'service.db'),
  SUPPORTED_CHAINS: '1',
  // No node answers there.
  RPC_URL_1: `http://127.0.0.1:${port}`,
  SERVICE_ADDRESS_1: '0x0000000000000000000000000000000000000001',
}
const script = loadScript(path)
script.runInThisContext()(createRequire(main), main)
while (!(await isHealthy())) await delay(20)
cacheCode(path, script)
process.kill(process.pid, 'SIGTERM')

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port: free } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return free
}

async function isHealthy(): Promise<boolean> {
  return fetch(health).then(
    ({ ok }) => ok,
    () => false,
  )
}
