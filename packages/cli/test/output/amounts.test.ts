import { describe, expect, it, onTestFinished } from 'vitest'
import { commandLine, startCommandLine } from '../../../../test/support/process/command-line.js'
import { ADDRESS, orderIdOf, sampleChain, sampleEvent, sampleOrder } from '../../../client/test/samples.js'
import { sendJson, serve } from '../../../client/test/server.js'

const [WETH, OTHER] = [ADDRESS, `0x${'22'.repeat(20)}`]
const ORDER = {
  ...sampleOrder(1),
  inputAmount: '1500000000000000000',
  outputToken: OTHER,
  outputAmount: '2498750000',
}
const { inputToken, inputAmount, outputToken, outputAmount } = ORDER
const RECORD = {
  quoteId: 'q-1',
  chainId: 1,
  requestedAt: 0,
  durationMs: 5,
  kind: 'FIRM',
  outcome: 'QUOTED',
  request: {
    ...{ inputToken, outputToken, orderType: 'EXACT_INPUT', amount: inputAmount, userAddress: ADDRESS },
    ...{ destinationChainId: 1, depositMode: 'CONTRACT', depositDeadline: 1800, fillDeadline: 1900 },
  },
  bestAmount: outputAmount,
  solvers: [
    { solver: ADDRESS, outcome: 'QUOTED', rank: 1, inputAmount, outputAmount, explanation: 'The best.' },
    { solver: ADDRESS, outcome: 'INVALID', inputAmount: '1e9', outputAmount: '', explanation: 'Odd.' },
  ],
}
const STATE = { circuitBreaker: 'CLOSED', totalBond: '50000000000', freeBond: '1500000' }
const EVENTS = [
  sampleEvent('Deposited', { ...ORDER, cursor: 'a.1' }),
  sampleEvent('Refunded', { user: ADDRESS, inputAmount: '7', bondSlashed: '1250000', cursor: 'a.2' }),
]

const ANSWERS: Readonly<Record<string, unknown>> = {
  '/v1/1/tokens': {
    tokens: [
      { address: WETH, symbol: 'WETH', decimals: 18, listed: true, orders24h: 0 },
      { address: OTHER, symbol: 'FAKE', decimals: 6, listed: false, orders24h: 0 },
    ],
  },
  '/v1/chains': { chains: [sampleChain(1)] },
  '/v1/1/orders': { orders: [ORDER], nextPageToken: '' },
  [`/v1/1/order/${orderIdOf(1)}`]: ORDER,
  '/v1/1/quote/q-1': RECORD,
  [`/v1/1/solvers/${ADDRESS}/results`]: { results: [], nextPageToken: '', ...STATE },
}

/** An instance with one order. @param hidden paths that it does not have */
async function startInstance(...hidden: string[]) {
  const { url } = await serve((request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    if (path === '/v1/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const opening = { type: 'connected', supportedChains: [1], cursor: 'a.0' }
      for (const message of [opening, ...EVENTS]) response.write(`data: ${JSON.stringify(message)}\n\n`)
      return
    }
    const answer = hidden.includes(path)
      ? undefined
      : ANSWERS[path.replace(/0x[0-9a-fA-F]{40}(?=\/)/, ADDRESS)]
    if (answer === undefined) return sendJson(response, 404, { error: 'None.', code: 'ROUTE_NOT_FOUND' })
    sendJson(response, 200, answer)
  })
  return url
}

async function outputOf(argv: readonly string[], ...hidden: string[]): Promise<string> {
  const environment = {
    AGGREGATOR_URL: await startInstance(...hidden),
    SOLVER_PRIVATE_KEY: `0x${'7'.repeat(64)}`,
  }
  const { code, stdout, stderr } = await commandLine(argv, { environment })
  expect([code, stderr]).toEqual([0, ''])
  return stdout
}

const IN_TOKENS = '1.5 WETH'
const IN_UNITS = `2498750000 of ${OTHER}`

describe('amounts of listed tokens have their symbol, and others their address,', () => {
  it('in orders', async () => {
    expect(await outputOf(['orders', '--chain', '1'])).toContain(`  ${IN_TOKENS}  ${IN_UNITS}  `)
  })

  it('in order', async () => {
    const text = await outputOf(['order', orderIdOf(1), '--chain', '1'])
    expect(text).toContain(`\nsells      ${IN_TOKENS}\nbuys       ${IN_UNITS} on chain 1\n`)
  })

  it('in quote --why, where a solver may have written anything', async () => {
    const text = await outputOf(['quote', '--why', 'q-1', '--chain', '1'])
    expect(text).toContain(`\nsells       ${IN_TOKENS}\nbuys        ${OTHER}\n`)
    expect(text).toContain(`\nbest offer  buys ${IN_UNITS}\n`)
    expect(text).toMatch(/ QUOTED +1\.5 WETH +2498750000 +The best\.\n/)
    expect(text).toMatch(/ INVALID +1e9 +Odd\.\n/)
  })

  it('in watch', async () => {
    const watching = startCommandLine(['watch', '--url', await startInstance()])
    onTestFinished(watching.interrupt)
    await expect.poll(() => watching.written.stdout).toContain('Refunded')
    const { stdout } = watching.written
    expect(stdout).toContain(`  sells ${IN_TOKENS}  buys ${IN_UNITS}  `)
    expect(stdout).toContain('  refund 7 units  bond slashed 1.25 USDC  ')
  })

  it('and all have their address at an instance without a list', async () => {
    const text = await outputOf(['orders', '--chain', '1'], '/v1/1/tokens')
    expect(text).toContain(`  1500000000000000000 of ${WETH}  ${IN_UNITS}  `)
  })
})

describe('bonds are in the bond token', () => {
  const results = ['results', '--chain', '1']

  it('in results', async () => {
    expect(await outputOf(results)).toMatch(/^total bond +50000 USDC\nfree bond +1\.5 USDC\n/m)
  })

  it('and in units at an instance that does not describe its chains', async () => {
    expect(await outputOf(results, '/v1/chains')).toMatch(/^free bond +1500000 units\n/m)
  })
})
