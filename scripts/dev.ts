/**
 * Runs the local network of the demo, with a service that is built and started again at each change of its sources. Chain,
 * contracts and solvers go on. The service keeps its port, and its database in a temporary folder.
 *
 *   npm run dev
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, watch } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { context } from 'esbuild'
import type { Environment } from '../src/config/environment.js'
import { type Network, type RunningService, startNetwork } from '../src/devnet/network.js'
import { printAddresses } from '../src/devnet/network-view.js'
import { tryPort } from '../src/devnet/preferred-port.js'
import { terminate } from '../src/devnet/terminate.js'
import { BUNDLE, copyFiles } from './bundle.js'

/** In the project's root: the service reads package.json from the folder above. */
const OUTDIR = '.dev-dist'
const SOURCES = ['src', 'gen', 'packages/protocol/src', 'packages/chain/src']
/** An editor may write a file in several steps. */
const SETTLE_MS = 50
const PROBE_MS = 50
/** A solver may wait for a chain that Ctrl-C has ended. */
const CLOSING_MS = 5_000
const print = (line: string) => void process.stdout.write(`${line}\n`)

let network: Network | undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    void Promise.race([network?.close(), delay(CLOSING_MS)]).finally(() => process.exit())
  })

network = await startNetwork({
  environment: { DEFAULT_FILL_WINDOW: '5', ...process.env },
  onError: (error) => print(`a solver failed: ${error}`),
  startService,
})
await printAddresses(network, print)
print('The service starts again when a source changes. Ctrl-C ends all.')

/** @returns when the service answers */
async function startService(environment: Environment): Promise<RunningService> {
  const port = await tryPort(Number(environment.PORT))
  const folder = mkdtempSync(join(tmpdir(), 'aggregator-'))
  const variables = { ...environment, PORT: String(port), DB_PATH: join(folder, 'service.db') }
  let service: ChildProcess | undefined
  const bundle = await context({ ...BUNDLE, entryPoints: ['src/main.ts'], outdir: OUTDIR, sourcemap: true })
  await copyFiles(OUTDIR)

  /** With an error, which esbuild prints, the last build goes on. */
  async function restart(): Promise<void> {
    const isBuilt = await bundle.rebuild().then(
      () => true,
      () => false,
    )
    if (!isBuilt) return
    if (service !== undefined) await terminate(service, 'SIGKILL')
    const program = ['--enable-source-maps', join(OUTDIR, 'main.js')]
    service = spawn(process.execPath, program, { env: variables, stdio: ['ignore', 'inherit', 'inherit'] })
  }

  let restarting = restart()
  let settling: NodeJS.Timeout | undefined
  const watchers = SOURCES.map((source) =>
    watch(source, { recursive: true }, (_event, name) => {
      clearTimeout(settling)
      settling = setTimeout(() => {
        print(`${source}/${name} has changed`)
        restarting = restarting.then(restart)
      }, SETTLE_MS)
    }),
  )
  async function close(): Promise<void> {
    clearTimeout(settling)
    for (const watcher of watchers) watcher.close()
    await restarting
    if (service !== undefined) await terminate(service, 'SIGKILL')
    await bundle.dispose()
    for (const path of [folder, OUTDIR]) rmSync(path, { recursive: true, force: true })
  }

  const url = `http://127.0.0.1:${port}`
  while (!(await answers(url))) await delay(PROBE_MS)
  return { url, close }
}

function answers(url: string): Promise<boolean> {
  return fetch(`${url}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  )
}
