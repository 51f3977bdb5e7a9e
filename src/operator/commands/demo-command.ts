import { createRequire } from 'node:module'
import type { Command } from 'commander'
import { readInteger } from '../../../packages/cli/src/arguments.js'
import { badInput, unavailable } from '../../../packages/cli/src/command-failure.js'
import type { CliIo } from '../../../packages/cli/src/io.js'
import type { DemoOptions } from '../demo/run-demo.js'

const MAX_PORT = 65_535

const MORE_HELP = `
The usual ports are 3000 for the service, 8545 for the chain, 4001 and 4002 for two solvers. Where one is taken, the demo takes
a free one and prints its address.`

/** `demo`: the local network with its story. */
export function addDemo(program: Command, io: CliIo): void {
  program
    .command('demo')
    .description(
      'Starts a local chain, three solvers and the service, plays a few swaps, and stays up until Ctrl-C.',
    )
    .option('--once', 'end after the story: exit code 0, or 1 when anything went wrong')
    .option('--traffic', 'go on with an order every few seconds after the story')
    .option(
      '--port <port>',
      "the service's port; 3000 or, where that is taken, any free one when left out",
      readInteger(1, MAX_PORT),
    )
    .option('--chain-port <port>', 'the port of the chain; 8545 when left out', readInteger(1, MAX_PORT))
    .option(
      '--solver-port <port>',
      'the port of the first solver; the second one has the next port; 4001 when left out',
      readInteger(1, MAX_PORT - 1),
    )
    .addHelpText('after', MORE_HELP)
    .action((options: DemoOptions) => demo(io, options))
}

async function demo(io: CliIo, options: DemoOptions): Promise<void> {
  const print = (line: string) => void io.stdout.write(`${line}\n`)
  print('Starting a local chain, the settlement contract, three solvers and the service …')
  const signal = io.interruption()
  assertChainProgram()
  const { port } = options
  const { tryPort } = await import('../../../packages/cli/src/devnet/preferred-port.js')
  if (port !== undefined && (await tryPort(port).catch(() => undefined)) === undefined)
    throw badInput(`--port is ${port}: it is taken, or not allowed. Name another one.`)
  const { runDemo } = await import('../demo/run-demo.js')
  await runDemo(options, signal, print)
}

function assertChainProgram(): void {
  try {
    createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json')
  } catch {
    const message =
      'The demo needs the local chain anvil: run npm install @foundry-rs/anvil, or npm ci in a clone, which brings it.'
    throw unavailable(message)
  }
}
