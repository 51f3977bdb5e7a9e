import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { listen } from '../../../test/support/listen.js'
import { commandLine, startCommandLine } from '../../../test/support/process/command-line.js'
import { ADDRESS, sampleEnd, sampleOffer, sampleOrder, sampleUpdate } from '../../client/test/samples.js'
import { sendJson } from '../../client/test/server.js'
import { nonceWithMode } from '../../protocol/src/quotes/nonce-mode.js'

/** Characters that a terminal interprets, hides or reorders. */
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
/** All samples at once, and then some texts at random. */
const RUNS = { seed: 20_261_121, numRuns: 5, examples: [[SAMPLES.join('a')] as [string]] }

let server: Server
let url: string
/** The text in all text fields of the instance's answers. */
let text = ''
let isRefusing = false
/** What differs in the instance's offer. */
let told: object = {}

beforeAll(async () => {
  server = createServer(answer)
  url = (await listen(server)).url
})
afterAll(() => {
  server?.closeAllConnections()
  server?.close()
})

/** An instance with valid answers whose texts are hostile. */
function answer({ url: path = '', method }: IncomingMessage, response: ServerResponse): void {
  if (isRefusing) sendJson(response, 400, refusal())
  else if (path.startsWith('/v1/events')) sendEvent(response)
  else if (path.endsWith('/stream')) sendQuotes(response)
  else if (path.endsWith('/price'))
    sendJson(response, 200, { best: { ...quote, name: text }, offers: 1, asOf: 1 })
  else if (path.includes('/orders')) sendJson(response, 200, { orders: [order()], nextPageToken: text })
  else if (path.includes('/order/')) sendJson(response, 200, order())
  else if (path.endsWith('/offers/check')) sendJson(response, 200, check)
  else if (method === 'POST')
    sendJson(response, 200, {
      ...offer,
      quote: { ...quote, ...told },
      quoteId: text,
      alternativeQuotes: [],
    })
  else if (path.endsWith('/solvers'))
    sendJson(response, 200, [{ address: ADDRESS, name: text, registeredAt: 1 }])
  else sendJson(response, 200, record())
}

const offer = sampleOffer(1)
const { quote } = offer
const check = { orderId: `0x${'33'.repeat(32)}`, state: 'VALID', expiresAt: 1, serverTime: 1 }
const asked = {
  ...quote,
  orderType: 'EXACT_INPUT',
  amount: '1',
  userAddress: ADDRESS,
  destinationChainId: 1,
  depositMode: 'CONTRACT',
}
const refusal = () => ({
  error: text,
  code: 'INVALID_ARGUMENT',
  details: [{ field: text, message: text }],
  quoteId: text,
})
const record = () => ({
  quoteId: text,
  chainId: 1,
  requestedAt: 0,
  outcome: 'QUOTED',
  kind: 'FIRM',
  request: asked,
  solvers: [
    {
      solver: ADDRESS,
      outcome: 'INVALID',
      reason: text,
      inputAmount: text,
      outputAmount: text,
      explanation: text,
    },
  ],
})

const order = () => ({ ...sampleOrder(1), state: text })

function sendEvent(response: ServerResponse): void {
  const data = JSON.stringify({ type: 'connected', supportedChains: [1], cursor: text })
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${data}\n\n`)
}

function sendQuotes(response: ServerResponse): void {
  const update = { ...sampleUpdate(1, 5), quoteId: text }
  const end = { ...sampleEnd(1, 5), quoteId: text }
  response
    .writeHead(200, { 'content-type': 'text/event-stream' })
    .end(`event: quote\ndata: ${JSON.stringify(update)}\n\nevent: done\ndata: ${JSON.stringify(end)}\n\n`)
}

const CHAIN = ['--chain', '1']
const TOKENS = ['--sell', ADDRESS, '--buy', ADDRESS, '--user', ADDRESS, '--amount', '1']
const COMMANDS: readonly (readonly string[])[] = [
  ['solvers', ...CHAIN],
  ['quote', ...TOKENS, ...CHAIN],
  ['quote', '--why', 'a', ...CHAIN],
  ['quote', '--watch', ...TOKENS, ...CHAIN],
  ['quote', ...TOKENS.slice(0, 4), '--amount', '1', ...CHAIN],
  ['orders', ...CHAIN],
  ['order', offer.orderId, ...CHAIN],
]

/** Runs a command against the instance, in every output format. */
async function outputsOf(argv: readonly string[]): Promise<string[]> {
  const ended = await Promise.all(
    [[], ['--json']].map((more) => commandLine([...argv, '--url', url, ...more])),
  )
  return ended.flatMap(({ stdout, stderr }) => [stdout, stderr])
}

async function watch(): Promise<string[]> {
  const watching = startCommandLine(['watch', '--url', url])
  await expect.poll(() => watching.written.stderr).toMatch(/reconnecting|error/)
  watching.interrupt()
  const { stdout, stderr } = await watching.ended
  return [stdout, stderr]
}

function expectPrintable(outputs: readonly string[]): void {
  for (const output of outputs) for (const line of output.split('\n')) expect(line).not.toMatch(UNPRINTABLE)
}

describe('the text of an instance', () => {
  it.each(COMMANDS.map((argv) => [argv]))('is escaped in the output of %j', async (argv) => {
    isRefusing = false
    const property = fc.asyncProperty(hostile, async (said) => {
      text = said
      expectPrintable(await outputsOf(argv))
    })
    await fc.assert(property, RUNS)
  })

  it('is escaped in an error', async () => {
    isRefusing = true
    const property = fc.asyncProperty(hostile, async (said) => {
      text = said
      expectPrintable((await Promise.all(COMMANDS.map(outputsOf))).flat())
    })
    await fc.assert(property, RUNS)
  })

  it('is escaped in the output of a stream', async () => {
    text = SAMPLES.join('a')
    for (isRefusing of [false, true]) expectPrintable(await watch())
  })

  it('keeps its value in JSON', async () => {
    isRefusing = false
    const property = fc.asyncProperty(hostile, async (said) => {
      text = said
      const { stdout } = await commandLine(['solvers', '--json', '--chain', '1', '--url', url])
      expect(JSON.parse(stdout)[0].name).toBe(said)
    })
    await fc.assert(property, RUNS)
  })

  it('is one word of the shell in the next command', async () => {
    isRefusing = false
    text = "a'; rm -rf ~ #"
    const { stdout } = await commandLine(['quote', ...TOKENS, '--chain', '1', '--url', url])
    expect(stdout).toContain(`--why 'a'\\''; rm -rf ~ #' --chain 1 `)
    const [, stderr] = await watch()
    expect(stderr).toContain(`--after 'a'\\''; rm -rf ~ #'\n`)
    isRefusing = true
    const refused = await commandLine(['solvers', '--chain', '1', '--url', url])
    expect(refused.stderr).toContain(`--why 'a'\\''; rm -rf ~ #' --chain 1 `)
  })
})

describe('an offer of an instance', () => {
  const ask = (difference: object, ...more: string[]) => {
    isRefusing = false
    text = 'q'
    told = difference
    onTestFinished(() => {
      told = {}
    })
    return commandLine(['quote', ...TOKENS, ...CHAIN, ...more, '--url', url])
  }
  const OTHER = `0x${'44'.repeat(20)}`
  const FUTURE = 4_000_000_000

  it.each([
    ['user', OTHER],
    ['inputToken', OTHER],
    ['outputToken', OTHER],
    ['orderType', 1],
    ['outputChainId', 2],
    ['inputAmount', '2'],
  ])('is refused when its %s is another one than was asked for', async (name, value) => {
    for (const format of [[], ['--json']]) {
      const { code, stdout, stderr } = await ask({ [name]: value }, ...format)
      expect([code, stdout, stderr]).toEqual([
        3,
        '',
        `error: The instance has offered another swap (${name}).\n`,
      ])
    }
  })

  it('has a deposit address in mode ADDRESS, while a transfer can still arrive', async () => {
    const depositTo = async (difference: object, mode: string) =>
      /\ndeposit to +(.*)\n/.exec((await ask(difference, '--mode', mode)).stdout)?.[1]
    expect(await depositTo({ depositDeadline: FUTURE }, 'address')).toBe(ADDRESS)
    expect(await depositTo({ depositDeadline: FUTURE }, 'contract')).toBe(undefined)
    const soon = Math.floor(Date.now() / 1000) + 100
    expect(await depositTo({ depositDeadline: soon }, 'address')).toBe('none: too late')
    const nonce = `${nonceWithMode('CONTRACT', 7n)}`
    expect(await depositTo({ depositDeadline: FUTURE, nonce }, 'address')).toBe(
      'none: not made for a transfer',
    )
  })

  it('is not judged by an answer for another order', async () => {
    const { code, stdout, stderr } = await commandLine(['check-offer', '-', ...CHAIN, '--url', url], {
      stdin: JSON.stringify(offer),
    })
    expect([code, stdout, stderr]).toEqual([
      3,
      '',
      expect.stringContaining('another offer than the one that was asked about'),
    ])
  })
})
