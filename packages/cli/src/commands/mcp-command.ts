import { type Command, InvalidArgumentError } from 'commander'
import { systemClock as clock } from '../../../protocol/src/clock.js'
import { readAddress, readChainId, readEach, readInteger } from '../arguments.js'
import { callsInstance, type Instance, readUrl } from '../called-instance.js'
import { unavailable } from '../command-failure.js'
import type { CliIo } from '../io.js'
import { readSecretFile } from '../solver-key.js'

interface Options {
  readonly url?: string
  readonly settlement?: readonly (readonly [number, `0x${string}`])[]
  readonly rpcUrl?: readonly (readonly [number, string])[]
  readonly apiKeyFile?: string
  readonly protocolName: string
  readonly maxQuotes: number
}

const readSettlement = readPair(':', readAddress)
const readNode = readPair('=', (text) => readUrl('--rpc-url', text).href)

/** `mcp`: prices, quotes and checks for agents, by the Model Context Protocol on standard input and output. */
export function addMcp(program: Command, io: CliIo): void {
  const command = program
    .command('mcp')
    .description(
      'Serves prices, quotes and checks to an agent, by MCP on standard input and output. It signs nothing.',
    )
    .option(
      '--settlement <chain:address>',
      'a contract that you trust; may be repeated',
      readEach(readSettlement),
    )
    .option('--rpc-url <chain=url>', 'your own node of a chain; may be repeated', readEach(readNode))
    .option('--api-key-file <path>', 'file with the API key, in place of AGGREGATOR_API_KEY')
    .option('--protocol-name <name>', 'PROTOCOL_NAME of the instance', 'Service')
    .option('--max-quotes <n>', 'most quotes in a minute', readInteger(1, 1000), 20)
    .addHelpText('after', '\nChecks and calls need --settlement and --rpc-url: see docs/mcp.md.')
  callsInstance(command, io, (instance, options: Options) => serve(io, command, instance, options))
}

async function serve(io: CliIo, command: Command, { url }: Instance, options: Options): Promise<void> {
  const { serveMcp } = await import('../../../mcp/src/serve-mcp.js').catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
    const message = 'This needs a package that is not there: npm install @modelcontextprotocol/server'
    throw unavailable(message)
  })
  const { apiKeyFile, rpcUrl, settlement, ...rest } = options
  const key = apiKeyFile && (await readSecretFile(io, '--api-key-file', apiKeyFile))
  const { createAggregatorClient } = await import('@quote-aggregator/client')
  const apiKey = (key ?? io.environment().AGGREGATOR_API_KEY)?.trim()
  const client = createAggregatorClient({ baseUrl: url, apiKey })
  const version = command.parent?.version() ?? ''
  const owned = { settlements: new Map(settlement), rpcUrls: new Map(rpcUrl) }
  const say = ({ message }: Error) => void io.stderr.write(`${message}\n`)
  await serveMcp({ ...rest, ...owned, client, version, clock }, io.interruption(), say)
}

/** A reader of a chain and a value with a sign in between. */
function readPair<T>(sign: string, readValue: (text: string) => T): (text: string) => readonly [number, T] {
  return (text) => {
    const at = text.indexOf(sign)
    if (at < 0) throw new InvalidArgumentError(`It must be a chain id, ${sign} and the value.`)
    return [readChainId(text.slice(0, at)), readValue(text.slice(at + 1))]
  }
}
