import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { encodeAbiParameters, type Hex, stringToHex } from 'viem'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { startChain } from '../../support/chain/chain.js'
import { deployOdd, deploySettlementOf } from '../../support/chain/odd-tokens.js'
import { eventually } from '../../support/eventually.js'
import { type RpcProxy, startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'

const NOTHING = '0x'
/** The selector of the view. */
const BOND_TOKEN = '0xf21b52e5'

let rpc: RpcProxy
let service: TestService | undefined

const chain = await shared(startChain({ bonded: 0 }))

beforeEach(async () => {
  rpc = await startRpcProxy(chain.devnet.rpcUrl)
})

afterEach(async () => {
  await service?.close()
  service = undefined
  rpc.close()
})

const text = (symbol: string) => encodeAbiParameters([{ type: 'string' }], [symbol])
const integer = (value: bigint) => encodeAbiParameters([{ type: 'uint256' }], [value])
const rawToken = (symbol: Hex, decimals: Hex) => deployOdd(chain.devnet, 'RawToken', [symbol, decimals])
const dataOf = ({ params }: { params?: readonly unknown[] }) =>
  (params?.[0] as { data?: string } | undefined)?.data

async function start(settlement: Address, rpcUrl = rpc.url): Promise<TestService> {
  const contracts = { ...chain.contracts, settlement }
  service = await startService({ ...chain, contracts }, { [`RPC_URL_${chain.chainId}`]: rpcUrl })
  return service
}

async function listed() {
  const [first] = (await service?.get('/v1/chains'))?.body.chains ?? []
  return first
}

/** The bond token after the service has asked for all of it. */
async function untilToken(isWhole: (token: { decimals?: number }) => boolean = () => true) {
  const { bondToken } = await eventually(
    listed,
    ({ bondToken: shown }) => shown !== undefined && isWhole(shown),
  )
  return bondToken
}

/** The token of a service on a settlement contract with bonds in it. */
async function shownFor(address: Address) {
  await start(await deploySettlementOf(chain.devnet, address))
  return untilToken()
}

describe('a bond token is shown', () => {
  it.each([
    [
      'with a symbol of bytes32, as old tokens have',
      stringToHex('MKR', { size: 32 }),
      { symbol: 'MKR', decimals: 18 },
    ],
    ['with letters of a script from right to left', text('עברית'), { symbol: 'עברית', decimals: 18 }],
    ['without a symbol that has control characters', text('US\u0007DC'), { decimals: 18 }],
    ['without a symbol that reverses its direction', text('USD\u202eC'), { decimals: 18 }],
    ['without a symbol of 33 characters', text('N'.repeat(33)), { decimals: 18 }],
    ['without a symbol that is no text', integer(7n), { decimals: 18 }],
    ['without a symbol when it has none', NOTHING, { decimals: 18 }],
  ] as const)('%s', async (_, symbol, expected) => {
    const address = await rawToken(symbol, integer(18n))
    expect(await shownFor(address)).toEqual({ address, ...expected })
  })

  it('by its address when its calls use up all gas, and the chain is read as always', async () => {
    const address = await deployOdd(chain.devnet, 'BurningToken')
    expect(await shownFor(address)).toEqual({ address })
    expect((await listed()).status).toBe('ok')
  })

  it('without a request to the URL that it names (ERC-3668)', async () => {
    const requests: (string | undefined)[] = []
    const server = createServer((request, response) => {
      requests.push(request.url)
      response.end(JSON.stringify({ data: text('USDC') }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const address = await deployOdd(chain.devnet, 'LookupToken', [`http://127.0.0.1:${port}/{sender}/{data}`])
    expect(await shownFor(address)).toEqual({ address })
    expect(requests).toEqual([])
  })
})

it.each([
  ['over HTTP, in batches', () => rpc.url],
  ['over a WebSocket', () => rpc.wsUrl],
])(
  'a node that does not answer for the token %s delays neither the start nor the end of the service',
  async (_, url) => {
    const held = rpc.hold((call) => dataOf(call) === BOND_TOKEN)
    const { close, get } = await start(chain.contracts.settlement, url())
    await held.reached
    const shown = await eventually(
      async () => (await get('/v1/chains')).body.chains[0],
      ({ status, domain }) => status === 'ok' && domain !== undefined,
    )
    expect(shown.domain).toEqual(chain.domain)
    expect((await listed()).bondToken).toBeUndefined()
    await close()
    service = undefined
    held.release()
  },
)
