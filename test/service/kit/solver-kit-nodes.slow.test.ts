import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { type RawAnswer, startRawNode } from '../../support/faults/raw-node.js'
import { type Market, startMarket } from '../../support/solver-kit/market.js'

const JSON_TYPE = { 'content-type': 'application/json' }
const ALLOWED_BLOCKS = 10

interface Asked {
  readonly id: number
  readonly method: string
  readonly params: readonly { readonly fromBlock?: string; readonly toBlock?: string }[]
}

let market: Market

beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market?.close())

/** A solver whose node answers in this way. */
async function startSolver(answer: RawAnswer) {
  const node = await startRawNode(market.chain.devnet.rpcUrl)
  onTestFinished(node.close)
  node.answerWith(answer)
  const { chainId } = market.chain
  const terms = { ...market.solverOptions().chains[chainId], rpc: node.url, pollIntervalMs: 50 }
  const solver = market.solver({ chains: { [chainId]: terms } as never })
  await solver.start()
  return solver
}

/** A user deposits at the address of an offer, which only the solver's own node shows. */
async function isPaid(): Promise<void> {
  const offer = await eventually(
    () => market.ask({ depositMode: 'ADDRESS' }),
    ({ status }) => status === 200,
  )
  await market.payAddress(offer.body)
  expect(await market.settlements(offer.body.orderId)).toBe(1)
}

/** Refuses batches of more calls. */
const batchesOf =
  (limit: number, refuse: RawAnswer): RawAnswer =>
  (response, body, pass) => {
    const asked = JSON.parse(body)
    return Array.isArray(asked) && asked.length > limit ? refuse(response, body, pass) : pass()
  }

it.each<[string, RawAnswer]>([
  ['none, by status 500', batchesOf(1, (response) => response.writeHead(500).end())],
  ['none, by status 429', batchesOf(1, (response) => response.writeHead(429).end())],
  [
    'three calls, by an error',
    batchesOf(3, (response) =>
      response
        .writeHead(200, JSON_TYPE)
        .end('{"id":null,"error":{"code":-32600,"message":"batch too large"}}'),
    ),
  ],
  [
    'three calls, by an error for each',
    batchesOf(3, (response, body) => {
      const error = { code: -32000, message: 'batch too large' }
      const answers = JSON.parse(body).map(({ id }: Asked) => ({ id, error }))
      response.writeHead(200, JSON_TYPE).end(JSON.stringify(answers))
    }),
  ],
])('a solver whose node takes batches of %s is started, and pays', async (_what, answer) => {
  const { errors, close } = await startSolver(answer)
  await isPaid()
  expect(errors).toEqual([])
  await close()
})

it('a solver whose node allows ten blocks finds a deposit at an address, and pays', async () => {
  // A minute of this chain has more than ten blocks.
  await market.calls.client.mine({ blocks: 30 })
  const tooWide = { code: -32005, message: `eth_getLogs is limited to ${ALLOWED_BLOCKS} blocks` }
  const { close } = await startSolver((response, body, pass) => {
    const asked: Asked[] = [JSON.parse(body)].flat()
    const isWide = ({ method, params: [filter] }: Asked) =>
      method === 'eth_getLogs' && Number(filter?.toBlock) - Number(filter?.fromBlock) >= ALLOWED_BLOCKS
    if (!asked.some(isWide)) return pass()
    const answers = asked.map(({ id }) => ({ id, error: tooWide }))
    response.writeHead(200, JSON_TYPE).end(JSON.stringify(body.startsWith('[') ? answers : answers[0]))
  })
  await isPaid()
  await close()
})
