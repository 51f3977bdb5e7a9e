import { createRequire } from 'node:module'
import type { Command } from 'commander'
import { EXIT } from '../exit-codes.js'
import { CommandFailure } from '../failure.js'

/** `demo`: the local network with its story. */
export function addDemo(program: Command): void {
  program
    .command('demo')
    .summary('a local network to try things out')
    .description(
      'Starts a local chain, three solvers and the service, plays a few swaps, and stays up until Ctrl-C.',
    )
    .option('--once', 'end after the story')
    .option('--traffic', 'go on with an order every few seconds after the story')
    .option('--port <port>', "the service's port; 3000 or, where that is taken, any free one when left out")
    .action(async ({ once, traffic, port }: { once?: boolean; traffic?: boolean; port?: string }) => {
      assertChainProgram()
      // The demo reads the arguments of its process.
      process.argv = [
        ...process.argv.slice(0, 2),
        ...(once ? ['--once'] : []),
        ...(traffic ? ['--traffic'] : []),
        ...(port === undefined ? [] : [`--port=${port}`]),
      ]
      await import('../../devnet/demo.js')
      // It ends the process by itself.
      await new Promise(() => {})
    })
}

function assertChainProgram(): void {
  try {
    createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json')
  } catch {
    const message =
      'The demo needs the local chain anvil: run npm install @foundry-rs/anvil, or npm ci in a clone, which brings it.'
    throw new CommandFailure(EXIT.unavailable, message)
  }
}
