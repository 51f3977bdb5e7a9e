import { afterAll, beforeAll, describe, expect, it, type onTestFinished } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { startService } from '../../support/service/service.js'

const NOTHING = '0x'
/** The selectors of the three views. */
const [SYMBOL, DECIMALS, BOND_TOKEN] = ['0x95d89b41', '0x313ce567', '0xf21b52e5']
const FAILURE = { error: { code: -32000, message: 'header not found' } }

let chain: TestChain

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
})
afterAll(() => chain?.stop())

const dataOf = ({ params }: { params?: readonly unknown[] }) =>
  (params?.[0] as { data?: string } | undefined)?.data

/** A service of one of the tests, which run at the same time. The first call of a view gets `reply`. */
async function start(selector: string | undefined, reply: object, whenFinished: typeof onTestFinished) {
  const rpc = await startRpcProxy(chain.devnet.rpcUrl)
  whenFinished(() => rpc.close())
  let failures = 0
  rpc.intercept(async (call, pass) => (dataOf(call) === selector && failures++ < 1 ? reply : pass()))
  const service = await startService(chain, { [`RPC_URL_${chain.chainId}`]: rpc.url })
  whenFinished(() => service.close())
  const listed = async () => (await service.get('/v1/chains')).body.chains[0]
  return { listed, calls: () => failures }
}

describe.concurrent('a node that fails for a moment', () => {
  it.for([
    { fault: 'with an error at BOND_TOKEN', selector: BOND_TOKEN, reply: FAILURE },
    { fault: 'with an error at symbol', selector: SYMBOL, reply: FAILURE },
    { fault: 'with an error at decimals', selector: DECIMALS, reply: FAILURE },
    { fault: 'and does not have the contract yet', selector: BOND_TOKEN, reply: { result: NOTHING } },
  ])(
    '$fault does not keep the chain from starting, and the token is complete later',
    async ({ selector, reply }, { onTestFinished }) => {
      const { listed, calls } = await start(selector, reply, onTestFinished)
      expect((await listed()).status).toBe('ok')
      const { bondToken } = await eventually(
        listed,
        (answer) => answer.bondToken?.symbol !== undefined && answer.bondToken.decimals !== undefined,
      )
      expect(bondToken).toEqual({ address: chain.contracts.bondToken, symbol: 'bUSD', decimals: 6 })
      // A request whose connection ends is sent once more, so there may be more.
      expect(calls()).toBeGreaterThanOrEqual(2)
    },
  )
})
