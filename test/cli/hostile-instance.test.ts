import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Code, ConnectError, type ConnectRouter } from '@connectrpc/connect'
import { connectNodeAdapter } from '@connectrpc/connect-node'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EventService } from '../../gen/aggregator/v1/event_pb.js'
import {
  DepositMode,
  OrderType,
  QuoteOutcome,
  QuoteService,
  SolverOutcome,
} from '../../gen/aggregator/v1/quote_pb.js'
import { SolverService } from '../../gen/aggregator/v1/solver_pb.js'
import { BadRequestSchema, ErrorInfoSchema } from '../../gen/google/rpc/error_details_pb.js'
import { commandLine, startCommandLine } from './command-line.js'

/** What a terminal obeys, hides or reorders. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}\u3164]|\u{e0100}/u
const SAMPLES = [
  '\x1b]0;a\x07',
  '\x9b31m',
  '\u202e',
  '\u200b',
  '\u2028',
  '\u{e0041}',
  '\u3164',
  '\r',
  '\x08',
  "';id #",
]
const hostile = fc.oneof(
  fc.constantFrom(...SAMPLES),
  fc.string({
    unit: fc.oneof(fc.constantFrom(...SAMPLES, 'a', '\n'), fc.string({ unit: 'binary', maxLength: 1 })),
  }),
)
const ADDRESS = `0x${'11'.repeat(20)}`

let server: Server
let url: string
/** What the instance says wherever its answers have text. */
let text = ''
let isRefusing = false

beforeAll(async () => {
  server = createServer(connectNodeAdapter({ routes }))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server?.closeAllConnections()
  server?.close()
})

function refuse(): never {
  const info = { reason: 'INVALID_ARGUMENT', domain: 'aggregator', metadata: { quoteId: text } }
  const error = new ConnectError(text, Code.InvalidArgument)
  error.details.push({ desc: ErrorInfoSchema, value: info })
  error.details.push({
    desc: BadRequestSchema,
    value: { fieldViolations: [{ field: text, description: text }] },
  })
  throw error
}

/** An instance that answers well-formed messages, with text that means no good. */
function routes(router: ConnectRouter): void {
  const quote = {
    solver: ADDRESS,
    user: ADDRESS,
    inputToken: ADDRESS,
    inputAmount: '1',
    outputToken: ADDRESS,
    outputAmount: '1',
    outputChainId: 1n,
    nonce: '0',
  }
  const offer = { quote, solverSignature: '0x12', orderId: `0x${'22'.repeat(32)}`, depositAddress: ADDRESS }
  const asked = { ...quote, orderType: OrderType.EXACT_INPUT, amount: '1', userAddress: ADDRESS }
  router.service(SolverService, {
    listSolvers: () =>
      isRefusing ? refuse() : { solvers: [{ address: ADDRESS, name: text, registeredAt: 1n }] },
  })
  router.service(QuoteService, {
    getQuote: () => (isRefusing ? refuse() : { ...offer, quoteId: text }),
    getQuoteRecord: () => ({
      quoteId: text,
      chainId: 1n,
      outcome: QuoteOutcome.QUOTED,
      asked: { ...asked, destinationChainId: 1n, depositMode: DepositMode.CONTRACT },
      solvers: [
        {
          solver: ADDRESS,
          outcome: SolverOutcome.INVALID,
          reason: text,
          inputAmount: text,
          outputAmount: text,
          explanation: text,
        },
      ],
    }),
  })
  router.service(EventService, {
    async *streamEvents() {
      if (isRefusing) refuse()
      yield { event: { case: 'connected', value: { supportedChains: [1n] } }, cursor: text }
      throw new ConnectError(text, Code.Unavailable)
    },
  })
}

const TOKENS = ['--sell', ADDRESS, '--buy', ADDRESS, '--user', ADDRESS, '--amount', '1']
const COMMANDS: readonly (readonly string[])[] = [['solvers'], ['quote', ...TOKENS], ['quote', '--why', 'a']]

/** Runs a command against the instance, with every spelling of its output. */
async function outputsOf(argv: readonly string[]): Promise<string[]> {
  const ended = await Promise.all(
    [[], ['--json']].map((more) => commandLine([...argv, '--chain', '1', '--url', url, ...more])),
  )
  return ended.flatMap(({ stdout, stderr }) => [stdout, stderr])
}

async function watch(): Promise<string[]> {
  const watching = startCommandLine(['watch', '--url', url])
  await expect.poll(() => watching.written.stderr).toMatch(/trying again|error/)
  watching.interrupt()
  const { stdout, stderr } = await watching.ended
  return [stdout, stderr]
}

function expectPrintable(outputs: readonly string[]): void {
  for (const output of outputs) for (const line of output.split('\n')) expect(line).not.toMatch(UNPRINTABLE)
}

describe('what an instance says', () => {
  it.each(COMMANDS.map((argv) => [argv]))('reaches no terminal as it is, by %j', async (argv) => {
    isRefusing = false
    const property = fc.asyncProperty(hostile, async (said) => {
      text = said
      expectPrintable(await outputsOf(argv))
    })
    await fc.assert(property, { seed: 20_261_121, numRuns: 25, examples: SAMPLES.map((sample) => [sample]) })
  })

  it('reaches no terminal as it is in an error', async () => {
    isRefusing = true
    const property = fc.asyncProperty(hostile, async (said) => {
      text = said
      expectPrintable((await Promise.all(COMMANDS.map(outputsOf))).flat())
    })
    await fc.assert(property, { seed: 20_261_121, numRuns: 25, examples: SAMPLES.map((sample) => [sample]) })
  })

  it('reaches no terminal as it is from a stream', async () => {
    for (const said of SAMPLES) {
      text = said
      isRefusing = false
      expectPrintable(await watch())
      isRefusing = true
      expectPrintable(await watch())
    }
  })

  it('has the same value in JSON', async () => {
    isRefusing = false
    const property = fc.asyncProperty(hostile, async (said) => {
      text = said
      const { stdout } = await commandLine(['solvers', '--json', '--chain', '1', '--url', url])
      expect(JSON.parse(stdout)[0].name).toBe(said)
    })
    await fc.assert(property, { seed: 20_261_121, numRuns: 25, examples: SAMPLES.map((sample) => [sample]) })
  })

  it('is one word of the shell in the command to go on with', async () => {
    isRefusing = false
    text = "a'; rm -rf ~ #"
    const { stdout } = await commandLine(['quote', ...TOKENS, '--chain', '1', '--url', url])
    expect(stdout).toContain(`--why 'a'\\''; rm -rf ~ #'\n`)
    const [, stderr] = await watch()
    expect(stderr).toContain(`--after 'a'\\''; rm -rf ~ #'\n`)
    isRefusing = true
    const refused = await commandLine(['solvers', '--chain', '1', '--url', url])
    expect(refused.stderr).toContain(`--why 'a'\\''; rm -rf ~ #'\n`)
  })
})
