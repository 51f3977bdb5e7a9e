/**
 * Runs the local network of the demo, with a service that is started again at each change of its sources. Chain, contracts and
 * solvers go on.
 *
 *   npm run dev
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { terminate } from '../packages/cli/src/devnet/anvil.js'
import { type Network, startNetwork } from '../packages/cli/src/devnet/network.js'
import { printAddresses } from '../packages/cli/src/devnet/network-view.js'
import { tryPort } from '../packages/cli/src/devnet/preferred-port.js'

/** A solver may wait for a chain that Ctrl-C has ended. */
const CLOSING_MS = 5_000
const print = (line: string) => void process.stdout.write(`${line}\n`)

let network: Network | undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.once(signal, () => Promise.race([network?.close(), delay(CLOSING_MS)]).then(() => process.exit()))

/** The service keeps its port, and its database in a temporary folder. @throws Node's error when the port is taken */
async function startService(environment: NodeJS.ProcessEnv) {
  const port = await tryPort(Number(environment.PORT))
  const folder = mkdtempSync(join(tmpdir(), 'aggregator-'))
  const env = { ...environment, PORT: String(port), DB_PATH: join(folder, 'service.db') }
  const service = spawn('tsx', ['watch', '--clear-screen=false', 'src/main.ts'], { env, stdio: 'inherit' })
  const url = `http://127.0.0.1:${port}`
  while (!(await fetch(`${url}/health/ready`).catch(() => undefined))?.ok) await delay(100)
  return { url, close: () => terminate(service).then(() => rmSync(folder, { recursive: true })) }
}

network = await startNetwork({
  environment: { DEFAULT_FILL_WINDOW: '12', ...process.env },
  onError: (error) => print(`a solver failed: ${error}`),
  startService,
})
printAddresses(network, print)
print('The service starts again when a source changes. Ctrl-C ends all.')
