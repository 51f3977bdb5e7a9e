/**
 * Runs the local network of the demo, with a service that is built and started again at each change of its sources. Chain,
 * contracts and solvers go on.
 *
 *   npm run dev
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { context } from 'esbuild'
import { type Network, startNetwork } from '../packages/cli/src/devnet/network.js'
import { printAddresses } from '../packages/cli/src/devnet/network-view.js'
import { startWatchedService } from '../packages/cli/src/devnet/watched-service.js'
import { BUNDLE, copyFiles } from './bundle.js'

/** In the project's root: the service reads package.json from the folder above. */
const OUTDIR = '.dev-dist'
/** A solver may wait for a chain that Ctrl-C has ended. */
const CLOSING_MS = 5_000
const print = (line: string) => void process.stdout.write(`${line}\n`)

let network: Network | undefined
async function end(): Promise<never> {
  await Promise.race([network?.close(), delay(CLOSING_MS)])
  rmSync(OUTDIR, { recursive: true, force: true })
  process.exit()
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => void end())

let onMade = () => {}
const bundle = await context({
  ...BUNDLE,
  entryPoints: ['src/main.ts'],
  outdir: OUTDIR,
  sourcemap: true,
  plugins: [
    {
      name: 'restart',
      // esbuild prints its errors.
      setup: (build) => build.onEnd(({ errors }) => void (errors.length === 0 && onMade())),
    },
  ],
})
await copyFiles(OUTDIR)
function watch(listener: () => void): Promise<void> {
  onMade = listener
  return bundle.watch()
}
network = await startNetwork({
  environment: { DEFAULT_FILL_WINDOW: '12', ...process.env },
  onError: (error) => print(`a solver failed: ${error}`),
  startService: (environment) => startWatchedService({ path: join(OUTDIR, 'main.js'), watch }, environment),
})
printAddresses(network, print)
print('The service starts again when a source changes. Ctrl-C ends all.')
